#include "inject.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../status.h"
#include "cli.h"
#include "number.h"

static const char *const whens[WHENS] = {"filled", "transposed", "digested", "checked"};

/* ---- what is done ---------------------------------------------------------------------------- */

static tsw_status flip_bit(struct arena *arena, size_t at, unsigned bit)
{
	unsigned char byte;
	tsw_status status = arena_read(arena, at, &byte, 1);

	byte ^= (unsigned char)(1u << bit);
	return status ? status : arena_write(arena, at, &byte, 1);
}

static size_t byte_of(const struct arena *arena, const uint64_t place[2])
{
	return (place[0] * arena->ld + place[1]) * arena->elem_size;
}

static tsw_status check_element(const struct arena *arena, const uint64_t place[2])
{
	if (place[0] < arena->n && place[1] < arena->n)
		return TSW_OK;
	return tsw_fail(TSW_ERR_OPTION, "TSW_STRESS_INJECT: n = %zu has no element there",
			arena->n);
}

static tsw_status flip(struct arena *arena, const uint64_t number[4])
{
	TRY(check_element(arena, number));
	if (number[2] >= 8 * arena->elem_size)
		return tsw_fail(TSW_ERR_OPTION, "TSW_STRESS_INJECT: an element has no such bit");
	return flip_bit(arena, byte_of(arena, number) + number[2] / 8, number[2] % 8);
}

static tsw_status swap_bytes(struct arena *arena, const size_t at[2], unsigned char *room)
{
	const size_t size = arena->elem_size;

	TRY(arena_read(arena, at[0], room, size));
	TRY(arena_read(arena, at[1], room + size, size));
	TRY(arena_write(arena, at[0], room + size, size));
	return arena_write(arena, at[1], room, size);
}

static tsw_status swap(struct arena *arena, const uint64_t number[4])
{
	unsigned char *room;
	tsw_status status;

	TRY(check_element(arena, number));
	TRY(check_element(arena, number + 2));
	room = malloc(2 * arena->elem_size);
	if (!room)
		return tsw_fail(TSW_ERR_NO_MEMORY, "no memory for two elements");
	status = swap_bytes(arena, (size_t[2]){byte_of(arena, number), byte_of(arena, number + 2)},
			    room);
	free(room);
	return status;
}

static tsw_status flip_byte(struct arena *arena, const uint64_t number[4])
{
	if (number[0] >= arena->span_bytes || number[1] >= 8)
		return tsw_fail(TSW_ERR_OPTION, "TSW_STRESS_INJECT: the span has no such bit");
	return flip_bit(arena, number[0], (unsigned)number[1]);
}

static tsw_status stop(struct arena *arena, const uint64_t number[4])
{
	(void)arena;
	(void)number;
	raise(SIGINT);
	return TSW_OK;
}

static const struct {
	const char *name;
	unsigned numbers;
	tsw_status (*put)(struct arena *arena, const uint64_t number[4]);
} kinds[] = {{"flip", 3, flip}, {"swap", 4, swap}, {"byte", 2, flip_byte}, {"stop", 0, stop}};

#define KINDS (sizeof kinds / sizeof *kinds)

tsw_status inject(const struct injections *all, struct arena *arena, uint64_t round, enum when when)
{
	for (unsigned i = 0; i < all->count; i++) {
		const struct injection *in = &all->list[i];

		if (in->round == round && in->when == when &&
		    (!in->device[0] || !strcmp(in->device, arena->name)))
			TRY(kinds[in->what].put(arena, in->number));
	}
	return TSW_OK;
}

/* ---- reading it ------------------------------------------------------------------------------ */

/* The words of one fault, from "WHAT" on, in `word`. */
static int parse_words(char *const *word, unsigned words, struct injection *in)
{
	for (in->what = 0; in->what < KINDS && strcmp(kinds[in->what].name, word[0]);)
		in->what++;
	for (in->when = 0; in->when < WHENS && strcmp(whens[in->when], word[1]);)
		in->when++;
	if (in->what == KINDS || in->when == WHENS || words != 3 + kinds[in->what].numbers ||
	    number_whole(word[2], &in->round))
		return -1;
	for (unsigned i = 3; i < words; i++)
		if (number_whole(word[i], &in->number[i - 3]))
			return -1;
	return 0;
}

static int parse_one(char *text, struct injection *in)
{
	char *word[8], *slash = strchr(text, '/'), *rest;
	unsigned words = 0;

	*in = (struct injection){0};
	if (slash) {
		*slash = '\0';
		snprintf(in->device, sizeof in->device, "%s", text);
		text = slash + 1;
	}
	for (char *w = strtok_r(text, ":", &rest); w && words < 8; w = strtok_r(NULL, ":", &rest))
		word[words++] = w;
	return words < 3 ? -1 : parse_words(word, words, in);
}

int inject_parse(const char *text, struct injections *all)
{
	char *copy = strdup(text ? text : ""), *rest;
	int result = copy ? 0 : -1;

	all->count = 0;
	if (copy)
		for (char *one = strtok_r(copy, " ", &rest); one && !result;
		     one = strtok_r(NULL, " ", &rest))
			result = all->count == INJECTIONS
					 ? -1
					 : parse_one(one, &all->list[all->count++]);
	free(copy);
	if (result)
		complain("TSW_STRESS_INJECT=%s is none of what inject.h describes", text);
	else if (all->count)
		complain("TSW_STRESS_INJECT: faults are put in, this is a test of stress itself");
	return result;
}
