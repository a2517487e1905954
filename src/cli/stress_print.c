/* What stress prints: results on stdout, what was wrong where on stderr. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "progress.h"
#include "stress.h"

const char *const pattern_names[TSW_PATTERNS + 1] = {"random", "position", "walk1",
						     "walk0",  "check5",   "checka"};

static const char *const fault_names[FAULTS] = {"none", "memory", "place", "digest", "padding"};

/* ---- wrong places ---------------------------------------------------------------------------- */

#define HEX_ROOM (2 * TSW_WRONG_BYTES + 1)

static const char *hex(const unsigned char *bytes, unsigned n, char text[HEX_ROOM])
{
	text[0] = '\0';
	for (unsigned i = 0; i < n; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	return text;
}

/* The byte of the span from which on a place shows its bytes. */
static uint64_t byte_of(const struct arena *arena, const struct tsw_wrong_place *p)
{
	return (p->r * arena->ld + p->c) * arena->elem_size + p->at;
}

static unsigned bits_differing(const struct tsw_wrong_place *p)
{
	unsigned count = 0;

	for (unsigned i = 0; i < p->nbytes; i++)
		count += (unsigned)__builtin_popcount(p->expected[i] ^ p->found[i]);
	return count;
}

/* The first differing bit of the element, counted from its first byte's lowest. */
static uint64_t first_bit(const struct tsw_wrong_place *p)
{
	unsigned i = 0;

	while (p->expected[i] == p->found[i])
		i++;
	return 8 * (p->at + i) + (unsigned)__builtin_ctz(p->expected[i] ^ p->found[i]);
}

/* The wrong place whose expected bytes stand at `p`; NULL if it is not among those reported. */
static const struct tsw_wrong_place *belongs_at(const struct tsw_wrong *wrong,
						const struct tsw_wrong_place *p)
{
	for (unsigned i = 0; i < wrong->places; i++)
		if (wrong->place[i].at == p->at &&
		    !memcmp(wrong->place[i].expected, p->found, p->nbytes))
			return &wrong->place[i];
	return NULL;
}

static void complain_of_place(const struct arena *arena, const struct round *r,
			      const struct tsw_wrong_place *p)
{
	const struct tsw_wrong_place *home =
		fault_of(r) == FAULT_PLACE ? belongs_at(&r->wrong, p) : NULL;
	char expected[HEX_ROOM], found[HEX_ROOM], what[96];

	if (home)
		snprintf(what, sizeof what, "what belongs at (%" PRIu64 ", %" PRIu64 ")", home->r,
			 home->c);
	else if (bits_differing(p) == 1)
		snprintf(what, sizeof what, "bit %" PRIu64 " is flipped", first_bit(p));
	else
		snprintf(what, sizeof what, "%u bits differ, the first is bit %" PRIu64,
			 bits_differing(p), first_bit(p));
	complain("%s, round %" PRIu64 ": element (%" PRIu64 ", %" PRIu64 "), byte %" PRIu64
		 ", address %p: found %s, expected %s: %s",
		 arena->name, r->number, p->r, p->c, byte_of(arena, p),
		 (const void *)((const unsigned char *)arena->a + byte_of(arena, p)),
		 hex(p->found, p->nbytes, found), hex(p->expected, p->nbytes, expected), what);
}

static const char *verdict(const struct round *r)
{
	switch (fault_of(r)) {
	case FAULT_MEMORY:
		return r->values_differs ? "memory: bits changed between the two digests"
					 : "memory: bits were wrong before the first digest or "
					   "after the second, which agree";
	case FAULT_PLACE:
		return "place: elements are whole but in wrong places";
	case FAULT_DIGEST:
		return "digest: every element is right, yet the digests differ: something was "
		       "misread or miscalculated";
	default:
		return "padding: bytes between the rows were changed, every element is right";
	}
}

static void complain_of(const struct arena *arena, const struct round *r)
{
	const struct tsw_wrong *wrong = &r->wrong;

	complain("%s, round %" PRIu64 ": %s", arena->name, r->number, verdict(r));
	for (unsigned i = 0; i < wrong->places; i++)
		complain_of_place(arena, r, &wrong->place[i]);
	if (wrong->padding_bytes)
		complain("%s, round %" PRIu64 ": padding, byte %" PRIu64
			 ", address %p: found %02x, expected %02x",
			 arena->name, r->number, wrong->padding_at,
			 (const void *)((const unsigned char *)arena->a + wrong->padding_at),
			 wrong->padding_found, wrong->padding_expected);
}

/* ---- a round --------------------------------------------------------------------------------- */

/* null where it is not known. */
static void json_known(struct json *j, const char *key, double value)
{
	json_real(j, key, value < 0 ? NAN : value);
}

static void json_name(struct json *j, const char *key, const char *name)
{
	if (*name)
		json_text(j, key, name);
	else
		json_null(j, key);
}

static void json_health(struct json *j, const struct tsw_health *h)
{
	json_known(j, "temperature_c", h->temperature_c);
	json_known(j, "sm_mhz", h->sm_mhz);
	json_known(j, "memory_mhz", h->memory_mhz);
	json_known(j, "power_w", h->power_w);
	json_known(j, "ecc_corrected", h->ecc_corrected);
	json_known(j, "ecc_uncorrected", h->ecc_uncorrected);
}

static void json_places(struct json *j, const struct arena *arena, const struct tsw_wrong *wrong)
{
	char text[HEX_ROOM];

	json_list(j, "wrong_places");
	for (unsigned i = 0; i < wrong->places; i++) {
		const struct tsw_wrong_place *p = &wrong->place[i];

		json_item(j);
		json_whole(j, "row", p->r);
		json_whole(j, "col", p->c);
		json_whole(j, "byte", byte_of(arena, p));
		json_hex(j, "address", (uintptr_t)arena->a + byte_of(arena, p));
		json_text(j, "found", hex(p->found, p->nbytes, text));
		json_text(j, "expected", hex(p->expected, p->nbytes, text));
		json_whole(j, "bits_differing", bits_differing(p));
		json_whole(j, "first_bit", first_bit(p));
		json_item_end(j);
	}
	json_list_end(j);
	if (wrong->padding_bytes)
		json_whole(j, "wrong_padding_byte", wrong->padding_at);
	else
		json_null(j, "wrong_padding_byte");
}

static void round_json(const struct arena *arena, const struct round *r)
{
	struct json j;

	json_begin(&j, stdout);
	json_text(&j, "command", "stress");
	json_text(&j, "kind", "round");
	json_whole(&j, "round", r->number);
	json_text(&j, "device", arena->name);
	json_whole(&j, "n", arena->n);
	json_whole(&j, "ld", arena->ld);
	json_whole(&j, "elem_size", arena->elem_size);
	json_text(&j, "pattern", pattern_names[r->content.pattern]);
	json_hex(&j, "seed", r->content.seed);
	json_text(&j, "fill", r->fill);
	json_whole(&j, "transposes", TRANSPOSES);
	json_real(&j, "time_ms", r->time_ms);
	json_real(&j, "gb_per_s", r->gb_per_s);
	json_text(&j, "fault", fault_names[fault_of(r)]);
	json_bool(&j, "digest_equal", !r->placed_differs && !r->values_differs);
	json_bool(&j, "placed_equal", !r->placed_differs);
	json_bool(&j, "values_equal", !r->values_differs);
	json_whole(&j, "wrong", r->wrong.elements);
	json_whole(&j, "wrong_padding_bytes", r->wrong.padding_bytes);
	json_places(&j, arena, &r->wrong);
	json_health(&j, &r->health);
	json_end(&j);
}

static void text_known(const char *key, double value)
{
	if (value >= 0)
		printf(" %s=%.0f", key, value);
}

static void round_text(const struct arena *arena, const struct round *r)
{
	printf("round %" PRIu64 ": %s n=%zu ld=%zu elem_size=%zu pattern=%s seed=%016" PRIx64
	       " fill=%s time_ms=%.3f gb_per_s=%.3f digest=%s wrong=%" PRIu64
	       " wrong_padding_bytes=%" PRIu64 " fault=%s",
	       r->number, arena->name, arena->n, arena->ld, arena->elem_size,
	       pattern_names[r->content.pattern], r->content.seed, r->fill, r->time_ms, r->gb_per_s,
	       r->placed_differs || r->values_differs ? "differs" : "equal", r->wrong.elements,
	       r->wrong.padding_bytes, fault_names[fault_of(r)]);
	text_known("temperature_c", r->health.temperature_c);
	text_known("sm_mhz", r->health.sm_mhz);
	text_known("memory_mhz", r->health.memory_mhz);
	text_known("power_w", r->health.power_w);
	text_known("ecc_corrected", r->health.ecc_corrected);
	text_known("ecc_uncorrected", r->health.ecc_uncorrected);
	putchar('\n');
}

void print_round(const struct worker *w, const struct round *r)
{
	progress_hide();
	(w->all->o->json ? round_json : round_text)(&w->arena, r);
	fflush(stdout); /* a failure is noticed by ferror() */
	if (fault_of(r) != FAULT_NONE)
		complain_of(&w->arena, r);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static double rate(const struct totals *t)
{
	return t->time_ms > 0 ? (double)t->bytes / t->time_ms / 1e6 : 0;
}

static void json_totals(struct json *j, const struct totals *t)
{
	json_whole(j, "rounds", t->rounds);
	json_whole(j, "bad_rounds", t->bad_rounds);
	json_whole(j, "memory_faults", t->faults[FAULT_MEMORY]);
	json_whole(j, "place_faults", t->faults[FAULT_PLACE]);
	json_whole(j, "digest_faults", t->faults[FAULT_DIGEST]);
	json_whole(j, "padding_faults", t->faults[FAULT_PADDING]);
	json_whole(j, "wrong", t->wrong);
	json_whole(j, "wrong_padding_bytes", t->wrong_padding_bytes);
	json_whole(j, "bytes_moved", TRANSPOSES * t->bytes);
	json_real(j, "gb_per_s", rate(t));
	json_known(j, "temperature_max_c", t->temperature_max);
}

static void text_totals(const struct totals *t)
{
	printf(" rounds=%" PRIu64 " bad_rounds=%" PRIu64 " wrong=%" PRIu64
	       " wrong_padding_bytes=%" PRIu64 " memory_faults=%" PRIu64 " place_faults=%" PRIu64
	       " digest_faults=%" PRIu64 " padding_faults=%" PRIu64 " bytes_moved=%" PRIu64
	       " gb_per_s=%.3f",
	       t->rounds, t->bad_rounds, t->wrong, t->wrong_padding_bytes, t->faults[FAULT_MEMORY],
	       t->faults[FAULT_PLACE], t->faults[FAULT_DIGEST], t->faults[FAULT_PADDING],
	       TRANSPOSES * t->bytes, rate(t));
	text_known("temperature_max_c", t->temperature_max);
}

void print_device(const struct worker *w)
{
	struct json j;

	if (!w->all->o->json) {
		printf("device %s:", w->arena.name);
		text_totals(&w->totals);
		putchar('\n');
		return;
	}
	json_begin(&j, stdout);
	json_text(&j, "command", "stress");
	json_text(&j, "kind", "device");
	json_text(&j, "device", w->arena.name);
	json_name(&j, "device_name", w->device.name);
	json_name(&j, "pci", w->device.pci);
	json_bool(&j, "finished", w->result == EXIT_OK);
	json_totals(&j, &w->totals);
	json_end(&j);
}

void print_summary(const struct stress *s, const struct totals *sum)
{
	double time_ms = 1e3 * (seconds_now() - s->begun);
	struct json j;

	if (!s->o->json) {
		printf("summary:");
		text_totals(sum);
		printf(" time_ms=%.3f\n", time_ms);
		return;
	}
	json_begin(&j, stdout);
	json_text(&j, "command", "stress");
	json_text(&j, "kind", "summary");
	json_whole(&j, "devices", (uint64_t)s->count);
	json_totals(&j, sum);
	json_real(&j, "time_ms", time_ms);
	json_end(&j);
}
