/* Finding, poisoning and watching the shared memory of kernels.
 *
 * `__shared__` places an array into the section "simt_shared", a gap before each.  Where the arrays
 * lie in it is read from this program's own symbol table: the linker may have changed the order. */
#include "internal.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SHARED_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHARED_ASAN 1
#endif
#endif
#ifdef SHARED_ASAN
#include <sanitizer/asan_interface.h>
#endif

#define POISON 0xa5
#define PAGE ((size_t)65536) /* a multiple of any machine's */

extern char __start_simt_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_simt_shared[] __attribute__((weak, visibility("hidden")));

static struct {
	struct simt_array *arrays;
	size_t count;
	const char *why;
	int known;
} shared;

char *simt_dynamic_base;
size_t simt_dynamic_bytes;
static char *dynamic_map;
static size_t dynamic_map_bytes;

static int by_address(const void *x, const void *y)
{
	const struct simt_array *a = x, *b = y;

	return (a->base > b->base) - (a->base < b->base);
}

/* Adds the arrays among `symbols`; `slide` is what addresses in the file lack to those in memory.
 */
static void take_symbols(const Elf64_Sym *symbols, size_t count, const char *names,
			 uint16_t section, uintptr_t slide)
{
	shared.arrays = calloc(count + 1, sizeof *shared.arrays);
	for (size_t i = 0; shared.arrays && i < count; i++) {
		const Elf64_Sym *s = &symbols[i];
		const char *name = names + s->st_name;

		if (s->st_shndx != section || ELF64_ST_TYPE(s->st_info) != STT_OBJECT ||
		    s->st_size == 0 || !strncmp(name, "simt_gap_", 9))
			continue;
		shared.arrays[shared.count++] =
			(struct simt_array){name, (char *)(s->st_value + slide), s->st_size};
	}
	if (shared.arrays)
		qsort(shared.arrays, shared.count, sizeof *shared.arrays, by_address);
}

static const char *read_image(const char *image)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + head->e_shoff);
	const char *section_names = image + sections[head->e_shstrndx].sh_offset;
	const Elf64_Shdr *table = NULL;
	uint16_t mine = 0;

	for (uint16_t i = 0; i < head->e_shnum; i++) {
		if (sections[i].sh_type == SHT_SYMTAB)
			table = &sections[i];
		if (!strcmp(section_names + sections[i].sh_name, "simt_shared"))
			mine = i;
	}
	if (!table || !mine)
		return "the program has no symbol table";
	take_symbols((const Elf64_Sym *)(image + table->sh_offset),
		     table->sh_size / sizeof(Elf64_Sym), image + sections[table->sh_link].sh_offset,
		     mine, (uintptr_t)__start_simt_shared - sections[mine].sh_addr);
	return shared.count ? NULL : "no array found in section simt_shared";
}

/* The image stays mapped: the names of the arrays lie in it. */
static const char *read_program(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const char *why = "cannot read the program";
	struct stat info;

	if (fd < 0)
		return why;
	if (fstat(fd, &info) == 0) {
		void *image = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (image != MAP_FAILED)
			why = read_image(image);
	}
	close(fd);
	return why;
}

/* Calls `gap` for each stretch outside of the arrays, with the array it adjoins. */
static const struct simt_array *each_gap(
	const struct simt_array *(*gap)(char *begin, char *end, const struct simt_array *neighbour))
{
	char *at = __start_simt_shared;
	const struct simt_array *found = NULL;

	for (size_t i = 0; !found && i < shared.count; i++) {
		if (shared.arrays[i].base > at)
			found = gap(at, shared.arrays[i].base, &shared.arrays[i ? i - 1 : 0]);
		at = shared.arrays[i].base + shared.arrays[i].bytes;
	}
	if (!found && at < __stop_simt_shared)
		found = gap(at, __stop_simt_shared, &shared.arrays[shared.count - 1]);
	return found;
}

static const struct simt_array *guard(char *begin, char *end, const struct simt_array *neighbour)
{
	(void)neighbour;
	memset(begin, POISON, (size_t)(end - begin));
#ifdef SHARED_ASAN
	__asan_poison_memory_region(begin, (size_t)(end - begin));
#endif
	return NULL;
}

#ifndef SHARED_ASAN
static const struct simt_array *changed(char *begin, char *end, const struct simt_array *neighbour)
{
	for (char *p = begin; p < end; p++)
		if ((unsigned char)*p != POISON)
			return neighbour;
	return NULL;
}
#endif

const struct simt_array *simt_shared_arrays(size_t *count, char **begin, char **end,
					    const char **why)
{
	if (!shared.known && __start_simt_shared) {
		shared.why = read_program();
		if (!shared.why)
			each_gap(guard);
	}
	shared.known = 1;
	*count = shared.count;
	*begin = __start_simt_shared;
	*end = __stop_simt_shared;
	*why = shared.why;
	return shared.why ? NULL : shared.arrays;
}

void simt_shared_poison(void)
{
	for (size_t i = 0; i < shared.count; i++)
		memset(shared.arrays[i].base, POISON, shared.arrays[i].bytes);
	if (simt_dynamic_base)
		memset(simt_dynamic_base, POISON, simt_dynamic_bytes);
}

const struct simt_array *simt_shared_overrun(void)
{
#ifdef SHARED_ASAN
	return NULL; /* AddressSanitizer has reported it where it happened */
#else
	const struct simt_array *array = each_gap(changed);

	if (array)
		each_gap(guard); /* one report a fault */
	return array;
#endif
}

const char *simt_dynamic_begin(size_t bytes)
{
	size_t room = (bytes + PAGE - 1) / PAGE * PAGE;

	if (bytes == 0)
		return NULL;
	dynamic_map_bytes = room + 2 * PAGE;
	dynamic_map = mmap(NULL, dynamic_map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (dynamic_map == MAP_FAILED ||
	    mprotect(dynamic_map + PAGE, room, PROT_READ | PROT_WRITE) != 0)
		return "no memory for dynamic shared memory";
	simt_dynamic_bytes = bytes;
	/* Aligned as a GPU's is; that ends at the page if `bytes` is as round. */
	simt_dynamic_base = dynamic_map + PAGE + ((room - bytes) & ~(size_t)1023);
	return NULL;
}

void simt_dynamic_end(void)
{
	if (simt_dynamic_base)
		munmap(dynamic_map, dynamic_map_bytes);
	simt_dynamic_base = NULL;
	simt_dynamic_bytes = 0;
}

void *simt_dynamic_shared(void)
{
	if (!simt_dynamic_base)
		simt_fail("uses dynamic shared memory, the launch gives none");
	return simt_dynamic_base;
}
