#include "status.h"

#include "tileswap_dist.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

_Thread_local int tsw_failed;

static const struct {
	tsw_status status;
	const char *text;
} texts[] = {
	{TSW_OK, "success"},
	{TSW_ERR_NULL, "null pointer"},
	{TSW_ERR_LD, "leading dimension smaller than n"},
	{TSW_ERR_ELEM_SIZE, "element size is zero"},
	{TSW_ERR_OVERFLOW, "matrix larger than the address space"},
	{TSW_ERR_ALIGN, "device address not aligned to the element's unit"},
	{TSW_ERR_STRIDE, "matrices of the batch overlap"},
	{TSW_ERR_OP, "unknown operation"},
	{TSW_ERR_TYPE, "unknown element type"},
	{TSW_ERR_THREADS, "negative number of threads"},
	{TSW_ERR_WHERE, "memory not reachable from where the call runs"},
	{TSW_ERR_OPTION, "invalid option"},
	{TSW_ERR_FORMAT, "file format error"},
	{TSW_ERR_NO_CUDA, "CUDA is not available"},
	{TSW_ERR_NO_DEVICE, "no CUDA device"},
	{TSW_ERR_NO_MEMORY, "out of memory"},
	{TSW_ERR_CUDA, "CUDA call failed"},
	{TSW_ERR_IO, "input/output error"},
	{TSW_ERR_MISMATCH, "verification failed"},
	{TSW_ERR_INTERRUPTED, "interrupted"},
	{TSW_ERR_JOURNAL, "journal does not match the file"},
	{TSW_ERR_LOCKED, "file is in use by another run"},
	{TSW_ERR_UNSUPPORTED, "not supported"},
	{TSW_ERR_COMM, "communication between ranks failed"},
};

const char *tsw_version(void)
{
	return TEXT(TSW_VERSION_MAJOR) "." TEXT(TSW_VERSION_MINOR) "." TEXT(TSW_VERSION_PATCH);
}

const char *tsw_strerror(tsw_status status)
{
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].status == status)
			return texts[i].text;
	return "unknown status";
}

tsw_status tsw_fail(tsw_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(tsw_error_line(1), TSW_ERROR_LINE, format, args);
	va_end(args);
	return status;
}
