/* HDF5: a dataset whose elements lie in one piece in the file.  libhdf5 says where; it is looked
 * for at run time, and only to look: the file is opened for reading and closed before anything
 * moves. */
#include "place.h"

#include "../tileswap.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Of hdf5.h, since 1.10; identifiers are 64 bits wide since then. */
typedef int64_t hid;
enum { H5_DEFAULT = 0, H5_READ_ONLY = 0 };
enum layout { LAYOUT_COMPACT = 0, LAYOUT_CONTIGUOUS = 1, LAYOUT_CHUNKED = 2, LAYOUT_VIRTUAL = 3 };
enum type_class { CLASS_REFERENCE = 7, CLASS_VLEN = 9 };
#define UNDEFINED_ADDRESS UINT64_MAX

/* The functions that are used: result, name, parameters. */
#define FUNCTIONS(X)                                                                               \
	X(int, H5open, (void))                                                                     \
	X(int, H5get_libversion, (unsigned *, unsigned *, unsigned *))                             \
	X(int, H5Eget_auto2, (hid, void **, void **))                                              \
	X(int, H5Eset_auto2, (hid, void *, void *))                                                \
	X(hid, H5Fopen, (const char *, unsigned, hid))                                             \
	X(int, H5Fclose, (hid))                                                                    \
	X(hid, H5Dopen2, (hid, const char *, hid))                                                 \
	X(int, H5Dclose, (hid))                                                                    \
	X(hid, H5Dget_space, (hid))                                                                \
	X(hid, H5Dget_type, (hid))                                                                 \
	X(hid, H5Dget_create_plist, (hid))                                                         \
	X(uint64_t, H5Dget_offset, (hid))                                                          \
	X(uint64_t, H5Dget_storage_size, (hid))                                                    \
	X(int, H5Sget_simple_extent_ndims, (hid))                                                  \
	X(int, H5Sget_simple_extent_dims, (hid, uint64_t *, uint64_t *))                           \
	X(int, H5Sclose, (hid))                                                                    \
	X(int, H5Tdetect_class, (hid, int))                                                        \
	X(int, H5Tis_variable_str, (hid))                                                          \
	X(size_t, H5Tget_size, (hid))                                                              \
	X(int, H5Tclose, (hid))                                                                    \
	X(int, H5Pget_layout, (hid))                                                               \
	X(int, H5Pget_nfilters, (hid))                                                             \
	X(int, H5Pget_external_count, (hid))                                                       \
	X(int, H5Pclose, (hid))

#define POINTER(result, name, parameters) result(*name) parameters;
static struct {
	void *handle;
	char error[256];
	FUNCTIONS(POINTER)
} h5;
static pthread_once_t loaded = PTHREAD_ONCE_INIT;
static pthread_mutex_t one_at_a_time =
	PTHREAD_MUTEX_INITIALIZER; /* libhdf5 may be unready for threads */

static void load(void)
{
	static const char *const names[] = {
		"libhdf5.so",
		"libhdf5_serial.so.310",
		"libhdf5.so.310",
		"libhdf5.so.320",
		"libhdf5_serial.so.103",
		"libhdf5.so.103",
		"libhdf5_serial.so.200",
		"libhdf5.so.200",
	};
	const char *given = getenv("TSW_LIBHDF5");

	if (given)
		h5.handle = dlopen(given, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; !given && !h5.handle && i < sizeof names / sizeof *names; i++)
		h5.handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!h5.handle) {
		const char *why = dlerror();

		strncpy(h5.error, given && why ? why : "libhdf5 was not found",
			sizeof h5.error - 1);
		return;
	}
#define FIND(result, name, parameters)                                                             \
	*(void **)&h5.name = dlsym(h5.handle, #name);                                              \
	if (!h5.name)                                                                              \
		strcpy(h5.error, "libhdf5 has no " #name);
	FUNCTIONS(FIND)
}

static tsw_status need_library(const struct tsw_file *f)
{
	unsigned major = 0, minor = 0, release = 0;

	pthread_once(&loaded, load);
	if (h5.error[0])
		return tsw_fail(
			TSW_ERR_UNSUPPORTED,
			"'%s' is an HDF5 file, and %s: install it (Debian: libhdf5-103-1), or "
			"name it in TSW_LIBHDF5",
			f->path, h5.error);
	if (h5.H5open() < 0 || h5.H5get_libversion(&major, &minor, &release) < 0 ||
	    (major == 1 && minor < 10))
		return tsw_fail(TSW_ERR_UNSUPPORTED,
				"libhdf5 is of version %u.%u.%u; 1.10 is needed", major, minor,
				release);
	return TSW_OK;
}

static tsw_status refused(const struct tsw_file *f, const char *dataset, const char *why)
{
	return tsw_fail(
		TSW_ERR_UNSUPPORTED,
		"'%s': dataset '%s' %s: only a contiguous dataset can be transposed in place "
		"(h5repack -l CONTI -f NONE makes one)",
		f->path, dataset, why);
}

/* The words for what a dataset is that is not contiguous; NULL if it is. */
static const char *layout_fault(hid plist)
{
	switch (h5.H5Pget_layout(plist)) {
	case LAYOUT_CONTIGUOUS:
		return h5.H5Pget_external_count(plist) ? "is stored in external files" : NULL;
	case LAYOUT_CHUNKED:
		return h5.H5Pget_nfilters(plist) > 0 ? "is compressed" : "is chunked";
	case LAYOUT_COMPACT:
		return "is compact";
	case LAYOUT_VIRTUAL:
		return "is virtual";
	default:
		return "has an unknown layout";
	}
}

static tsw_status judge_space(const struct tsw_file *f, const char *name, hid space,
			      struct tsw_place *p)
{
	uint64_t dims[32];
	const int rank = h5.H5Sget_simple_extent_ndims(space);

	if (rank != 2)
		return tsw_fail(TSW_ERR_FORMAT, "'%s': dataset '%s' has %d dimensions, not 2",
				f->path, name, rank);
	h5.H5Sget_simple_extent_dims(space, dims, NULL);
	if (dims[0] != dims[1])
		return tsw_fail(TSW_ERR_FORMAT,
				"'%s': the matrix is not square: dataset '%s' has the shape "
				"(%ju, %ju)",
				f->path, name, (uintmax_t)dims[0], (uintmax_t)dims[1]);
	p->n = p->ld = (size_t)dims[0];
	return TSW_OK;
}

static tsw_status judge_type(const struct tsw_file *f, const char *name, hid type,
			     struct tsw_place *p)
{
	p->elem_size = h5.H5Tget_size(type);
	if (h5.H5Tdetect_class(type, CLASS_VLEN) > 0 || h5.H5Tis_variable_str(type) > 0 ||
	    h5.H5Tdetect_class(type, CLASS_REFERENCE) > 0)
		return refused(f, name, "holds references, not values");
	return TSW_OK;
}

static tsw_status judge_storage(const struct tsw_file *f, uint64_t file_bytes, const char *name,
				hid dataset, struct tsw_place *p)
{
	const uint64_t at = h5.H5Dget_offset(dataset), bytes = h5.H5Dget_storage_size(dataset);

	p->offset = at == UNDEFINED_ADDRESS ? 0 : at;
	if (p->n == 0)
		return TSW_OK;
	if (at == UNDEFINED_ADDRESS || bytes == 0)
		return refused(f, name, "has no storage yet");
	TRY(tsw_place_set(f, file_bytes, p));
	if (bytes != tsw_place_span(p))
		return refused(f, name, "is stored in another size than its shape has");
	return TSW_OK;
}

static tsw_status judge(const struct tsw_file *f, uint64_t file_bytes, const char *name,
			hid dataset, struct tsw_place *p)
{
	const hid plist = h5.H5Dget_create_plist(dataset), space = h5.H5Dget_space(dataset);
	const hid type = h5.H5Dget_type(dataset);
	const char *fault = plist < 0 ? "has no layout" : layout_fault(plist);
	tsw_status status = fault ? refused(f, name, fault) : TSW_OK;

	if (status == TSW_OK)
		status = judge_space(f, name, space, p);
	if (status == TSW_OK)
		status = judge_type(f, name, type, p);
	if (status == TSW_OK)
		status = judge_storage(f, file_bytes, name, dataset, p);
	h5.H5Tclose(type);
	h5.H5Sclose(space);
	h5.H5Pclose(plist);
	return status;
}

static tsw_status look(const struct tsw_file *f, uint64_t file_bytes, const char *name,
		       struct tsw_place *p)
{
	tsw_status status;
	hid file = h5.H5Fopen(f->path, H5_READ_ONLY, H5_DEFAULT), dataset;

	if (file < 0)
		return tsw_fail(TSW_ERR_FORMAT,
				"'%s': libhdf5 cannot open it (split over files, damaged, or open "
				"for writing elsewhere)",
				f->path);
	dataset = h5.H5Dopen2(file, name, H5_DEFAULT);
	if (dataset < 0)
		status = tsw_fail(TSW_ERR_FORMAT, "'%s' has no dataset '%s'", f->path, name);
	else
		status = judge(f, file_bytes, name, dataset, p);
	if (dataset >= 0)
		h5.H5Dclose(dataset);
	h5.H5Fclose(file);
	return status;
}

tsw_status tsw_find_hdf5(const struct tsw_file *f, uint64_t file_bytes,
			 const struct tsw_wanted *wanted, struct tsw_place *p)
{
	void *print, *print_data;
	tsw_status status;

	if (!wanted->dataset)
		return tsw_fail(TSW_ERR_OPTION,
				"'%s' is an HDF5 file: dataset names what is to be transposed",
				f->path);
	pthread_mutex_lock(&one_at_a_time);
	status = need_library(f);
	if (status == TSW_OK) {
		/* It would print its errors; the caller's own wish is kept. */
		h5.H5Eget_auto2(H5_DEFAULT, &print, &print_data);
		h5.H5Eset_auto2(H5_DEFAULT, NULL, NULL);
		status = look(f, file_bytes, wanted->dataset, p);
		h5.H5Eset_auto2(H5_DEFAULT, print, print_data);
	}
	pthread_mutex_unlock(&one_at_a_time);
	return status;
}
