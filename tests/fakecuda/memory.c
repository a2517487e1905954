/* Memory of devices that are not there: each block is mapped twice. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../kernels/digest.h"

#define BLOCKS 32
#define PAGE ((size_t)65536) /* a multiple of any machine's */

static struct fake_block blocks[BLOCKS];

void fake_misuse(const char *format, ...)
{
	va_list args;

	if (fake.misuse[0])
		return;
	va_start(args, format);
	vsnprintf(fake.misuse, sizeof fake.misuse, format, args);
	va_end(args);
}

static int holds(const unsigned char *base, size_t bytes, const void *p)
{
	return base && (const unsigned char *)p >= base && (const unsigned char *)p < base + bytes;
}

struct fake_block *fake_block_of(const void *p)
{
	for (size_t i = 0; i < BLOCKS; i++)
		if (holds(blocks[i].host, blocks[i].bytes, p) ||
		    holds(blocks[i].on_device, blocks[i].bytes, p))
			return &blocks[i];
	return NULL;
}

static size_t mapped(const struct fake_block *block)
{
	return (block->bytes + PAGE - 1) / PAGE * PAGE;
}

static void *map(int file, size_t bytes, int protection)
{
	void *p = mmap(NULL, bytes, protection, MAP_SHARED, file, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

struct fake_block *fake_block_new(enum fake_kind kind, int device, size_t bytes)
{
	struct fake_block *block = blocks;
	int file = memfd_create("fake device", 0);

	while (block < blocks + BLOCKS && block->host)
		block++;
	if (block == blocks + BLOCKS || file < 0)
		abort();
	*block = (struct fake_block){.kind = kind, .device = device, .bytes = bytes};
	if (ftruncate(file, (off_t)mapped(block)) != 0)
		abort();
	block->host = map(file, mapped(block), PROT_READ | PROT_WRITE);
	block->on_device = kind == FAKE_MANAGED ? block->host : map(file, mapped(block), PROT_NONE);
	close(file);
	return block;
}

void fake_block_free(struct fake_block *block)
{
	if (block->on_device != block->host)
		munmap(block->on_device, mapped(block));
	munmap(block->host, mapped(block));
	memset(block, 0, sizeof *block);
}

void *fake_memory(enum fake_kind kind, int device, size_t bytes)
{
	struct fake_block *block;
	void *p;

	if (kind == FAKE_HOST) {
		p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
		if (!p)
			abort();
		return p;
	}
	block = fake_block_new(kind, device, bytes);
	return kind == FAKE_DEVICE ? block->on_device : block->host;
}

void fake_release(void *p)
{
	struct fake_block *block = fake_block_of(p);

	if (block)
		fake_block_free(block);
	else
		free(p);
}

unsigned char *fake_view(void *p)
{
	struct fake_block *block = fake_block_of(p);

	if (!block || !holds(block->on_device, block->bytes, p))
		return p;
	return block->host + ((unsigned char *)p - block->on_device);
}

static void protect(int protection)
{
	for (size_t i = 0; i < BLOCKS; i++)
		if (blocks[i].on_device != blocks[i].host &&
		    mprotect(blocks[i].on_device, mapped(&blocks[i]), protection) != 0)
			abort();
}

void fake_open(int device)
{
	protect(PROT_READ | PROT_WRITE);
	simt_allow_nothing();
	simt_allow(tsw_digest_slots(), TSW_DIGEST_SLOTS * sizeof(struct tsw_digest_slot), 0, 0);
	for (size_t i = 0; i < BLOCKS; i++)
		if (blocks[i].host && (blocks[i].kind != FAKE_DEVICE || blocks[i].device == device))
			simt_allow(blocks[i].on_device, blocks[i].bytes, 0, 0);
}

void fake_shut(void)
{
	simt_allow_nothing();
	protect(PROT_NONE);
}
