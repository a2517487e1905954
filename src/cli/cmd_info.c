/* tileswap info: what this machine has, and the largest matrices that fit. */
#include <inttypes.h>
#include <stdio.h>

#include "../tileswap.h"
#include "../verify/device.h"
#include "cli.h"
#include "hostmem.h"
#include "json.h"

static const unsigned widths[] = {1, 2, 4, 8, 16};

#define WIDTHS (sizeof widths / sizeof *widths)

static double gib(uint64_t bytes)
{
	return (double)bytes / (double)(1 << 30);
}

static void fits_json(struct json *j, const char *key, uint64_t bytes)
{
	json_list(j, key);
	for (size_t i = 0; i < WIDTHS; i++) {
		json_item(j);
		json_whole(j, "elem_size", widths[i]);
		json_whole(j, "n_in_place", largest_n(bytes, widths[i]));
		json_whole(j, "n_twice", largest_n(bytes / 2, widths[i]));
		json_item_end(j);
	}
	json_list_end(j);
}

static void fits_text(const char *where, uint64_t bytes)
{
	for (size_t i = 0; i < WIDTHS; i++)
		printf("%-8s  %9u  %12" PRIu64 "  %12" PRIu64 "\n", where, widths[i],
		       largest_n(bytes, widths[i]), largest_n(bytes / 2, widths[i]));
}

/* Asks for each device; EXIT_FAILED after a complaint if one does not answer. */
static int each_device(void (*tell)(void *arg, const struct tsw_device *d), void *arg)
{
	int result = EXIT_OK, count = tsw_device_count();

	for (int i = 0; i < count; i++) {
		struct tsw_device d;

		if (tsw_device_query(i, &d) == TSW_OK) {
			tell(arg, &d);
		} else {
			complain("device %d: %s", i, tsw_last_error());
			result = EXIT_FAILED;
		}
	}
	return result;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void device_json(void *arg, const struct tsw_device *d)
{
	struct json *j = arg;

	json_item(j);
	json_whole(j, "device", (uint64_t)d->index);
	json_text(j, "name", d->name);
	json_whole(j, "compute_major", (uint64_t)d->major);
	json_whole(j, "compute_minor", (uint64_t)d->minor);
	json_whole(j, "memory_total_bytes", d->total_bytes);
	json_whole(j, "memory_free_bytes", d->free_bytes);
	fits_json(j, "largest", d->free_bytes);
	json_item_end(j);
}

static int info_json(tsw_status cuda, const char *cuda_detail)
{
	struct hostmem host = hostmem_now();
	struct json j;
	int result;

	json_begin(&j, stdout);
	json_text(&j, "command", "info");
	json_text(&j, "version", tsw_version());
	json_bool(&j, "cuda_built", tsw_device_built());
	json_bool(&j, "cuda_usable", cuda == TSW_OK);
	json_text(&j, "cuda_detail", cuda_detail);
	json_whole(&j, "host_threads", (uint64_t)host_processors());
	json_whole(&j, "host_memory_total_bytes", host.total_bytes);
	json_whole(&j, "host_memory_available_bytes", host.available_bytes);
	fits_json(&j, "host_largest", host.available_bytes);
	json_list(&j, "devices");
	result = each_device(device_json, &j);
	json_list_end(&j);
	json_end(&j);
	return result;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void device_text(void *arg, const struct tsw_device *d)
{
	(void)arg;
	printf("cuda:%d    %s, compute capability %d.%d, %.1f GiB of memory, %.1f GiB free\n",
	       d->index, d->name, d->major, d->minor, gib(d->total_bytes), gib(d->free_bytes));
}

static void device_fits(void *arg, const struct tsw_device *d)
{
	char where[32];

	(void)arg;
	snprintf(where, sizeof where, "cuda:%d", d->index);
	fits_text(where, d->free_bytes);
}

static int info_text(tsw_status cuda, const char *cuda_detail)
{
	struct hostmem host = hostmem_now();
	int result;

	printf("tileswap %s\n", tsw_version());
	printf("CUDA      %s, %s%s\n", tsw_device_built() ? "built in" : "not built in",
	       cuda == TSW_OK ? "usable" : "not usable: ", cuda_detail);
	printf("cpu       %d threads, %.1f GiB of memory, %.1f GiB available\n", host_processors(),
	       gib(host.total_bytes), gib(host.available_bytes));
	result = each_device(device_text, NULL);
	printf("\nlargest n that fits now\n%-8s  %9s  %12s  %12s\n", "where", "elem_size",
	       "in place", "twice");
	fits_text("cpu", host.available_bytes);
	return each_device(device_fits, NULL) | result;
}

int cmd_info(const struct options *o)
{
	tsw_status cuda = tsw_cuda_status();
	char detail[512];

	/* Copied: the next call of the library may forget it. */
	snprintf(detail, sizeof detail, "%s", tsw_last_error());
	return o->json ? info_json(cuda, detail) : info_text(cuda, detail);
}
