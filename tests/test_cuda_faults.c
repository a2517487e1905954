/* src/cuda and src/verify, as they are, on a CUDA runtime that is not there (tests/fakecuda): what
 * each device call does when a call of the runtime fails, for every call that it makes and every
 * kind of error; and that it allocates nothing and waits for nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../kernels/digest.h"
#include "cuda/cuda.h"
#include "fakecuda/fakecuda.h"
#include "fakecuda/scene.h"
#include "status.h"
#include "support.h"
#include "verify/device.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

#define CALLERS cudaErrorPeerAccessAlreadyEnabled /* an error that no call of ours makes */

/* What is injected, and what the status is if cudaGetDeviceCount() returns it. */
static const struct code {
	cudaError_t error;
	tsw_status usable;
} codes[] = {
	{cudaErrorNoDevice, TSW_ERR_NO_DEVICE},
	{cudaErrorInsufficientDriver, TSW_ERR_NO_CUDA},
	{cudaErrorInitializationError, TSW_ERR_NO_CUDA},
	{cudaErrorStubLibrary, TSW_ERR_NO_CUDA},
	{cudaErrorOperatingSystem, TSW_ERR_NO_CUDA},
	{cudaErrorSystemNotReady, TSW_ERR_NO_CUDA},
	{cudaErrorSystemDriverMismatch, TSW_ERR_NO_CUDA},
	{cudaErrorCompatNotSupportedOnDevice, TSW_ERR_NO_CUDA},
	{cudaErrorMpsConnectionFailed, TSW_ERR_NO_CUDA},
	{cudaErrorMpsRpcFailure, TSW_ERR_NO_CUDA},
	{cudaErrorMpsServerNotReady, TSW_ERR_NO_CUDA},
	{cudaErrorMpsMaxClientsReached, TSW_ERR_NO_CUDA},
	{cudaErrorMpsMaxConnectionsReached, TSW_ERR_NO_CUDA},
	{cudaErrorUnknown, TSW_ERR_NO_CUDA},
	{cudaErrorMemoryAllocation, TSW_ERR_CUDA},
	{cudaErrorInvalidValue, TSW_ERR_CUDA},
	{cudaErrorDevicesUnavailable, TSW_ERR_CUDA},
	{cudaErrorInvalidDevice, TSW_ERR_CUDA},
	{cudaErrorNoKernelImageForDevice, TSW_ERR_CUDA},
	{cudaErrorInvalidResourceHandle, TSW_ERR_CUDA},
	{cudaErrorLaunchOutOfResources, TSW_ERR_CUDA},
	{cudaErrorNotPermitted, TSW_ERR_CUDA},
	{cudaErrorStreamCaptureUnsupported, TSW_ERR_CUDA},
	{cudaErrorECCUncorrectable, TSW_ERR_CUDA},
	{cudaErrorIllegalAddress, TSW_ERR_CUDA},
	{cudaErrorMisalignedAddress, TSW_ERR_CUDA},
	{cudaErrorLaunchFailure, TSW_ERR_CUDA},
};

/* Over all tests, which Check forks. */
static struct tally {
	unsigned subjects, calls, faults;
} * tally;

/* ---- with no fault -----------------------------------------------------------------------------
 */

static int same(tsw_digest x, tsw_digest y)
{
	return x.placed == y.placed && x.values == y.values;
}

/* A result that is no change of the memory. */
static void check_result(const struct scene *scene)
{
	const struct subject *s = scene->subject;
	tsw_digest host;

	if (!strcmp(s->name, "tsw_checksum_device")) {
		tsw_assert_ok(tsw_checksum_host(scene->before + scene->at, s->n, s->ld, s->width,
						s->flag, &host, 1));
		ck_assert(same(host, scene->digest));
	} else if (!strcmp(s->name, "tsw_check_device")) {
		const struct tsw_wrong_place *place = scene->wrong.place;

		ck_assert_uint_eq(scene->wrong.elements, 1);
		ck_assert_uint_eq(scene->wrong.padding_bytes, 1);
		ck_assert_uint_eq(scene->wrong.places, 1);
		ck_assert_uint_eq(place->r, 2);
		ck_assert_uint_eq(place->c, 3);
		ck_assert_uint_eq(place->at, 16);
		ck_assert_uint_eq(place->expected[4] ^ place->found[4], 4);
	} else if (!strcmp(s->name, "tsw_device_timed")) {
		ck_assert(scene->time_ms > 0);
	}
}

/* One call that nothing disturbs; the caller has an error of its own pending. */
static void check_call(struct scene *scene, const unsigned char *expected)
{
	const struct subject *s = scene->subject;
	const char *wrong;

	fake_fail_nothing();
	fake_set_pending(CALLERS);
	tsw_forget_failure(); /* src/verify does not */
	tsw_assert_ok(s->run(scene));
	ck_assert_str_eq(tsw_last_error(), "");
	ck_assert_int_eq(cudaPeekAtLastError(), CALLERS);
	if (!s->allocates)
		ck_assert_uint_eq(fake.allocations, 0);
	if (!s->waits) { /* it returns when the work is queued */
		ck_assert_uint_eq(fake.waits, 0);
		ck_assert_uint_eq(fake.executed, 0);
	}
	ck_assert_int_eq(fake.launches > 0, s->family != NULL);
	if (s->family)
		ck_assert_str_eq(fake_family(fake.entry), s->family);
	if (s->waits) /* nothing is left to be done */
		ck_assert_uint_eq(fake.executed, fake.launches);
	fake_finish();
	ck_assert_str_eq(fake.misuse, "");
	ck_assert_uint_eq(fake.live, 0);
	wrong = scene_wrong(scene, expected);
	ck_assert_msg(!wrong, "%s: %s", s->name, wrong);
	check_result(scene);
}

START_TEST(without_a_fault)
{
	struct scene scene = scene_new(&subjects[_i]);

	check_call(&scene, scene.after);
	check_call(&scene, scene.subject->effect == FILLS ? scene.after : scene.after_twice);
	scene_free(&scene);
}
END_TEST

/* Launches that may start early are for GPUs that know of it. */
START_TEST(an_older_gpu_is_asked_for_nothing_new)
{
	fake.major = 7;
	for (size_t i = 0; i < subject_count; i++) {
		struct scene scene;

		if (strcmp(subjects[i].name, "tsw_transpose_device"))
			continue;
		scene = scene_new(&subjects[i]);
		check_call(&scene, scene.after);
		scene_free(&scene);
	}
}
END_TEST

/* Each kernel of the table, and each of the others, is some subject's. */
START_TEST(every_family_of_kernels_is_reached)
{
	static const char *const others[] = {"imatcopy stream",	 "imatcopy vector",
					     "imatcopy shifted", "rows",
					     "digest",		 "verify"};
	const size_t most = 20;

	for (size_t i = 0, k = 0; i < most; i++) {
		const char *family = tsw_cuda_kernel_name(i);
		size_t s = 0;

		if (!family)
			family = k < LENGTH(others) ? others[k++] : NULL;
		if (!family)
			return;
		while (s < subject_count &&
		       !(subjects[s].family && !strcmp(subjects[s].family, family)))
			s++;
		ck_assert_msg(s < subject_count, "no subject launches a kernel of %s", family);
	}
	ck_abort_msg("more kernels than expected");
}
END_TEST

/* ---- one fault after the other -----------------------------------------------------------------
 */

struct injected {
	struct scene *scene;
	const struct code *code;
	enum fake_mode mode;
	unsigned number;   /* of the call that fails */
	unsigned launches; /* of a call that nothing disturbs */
	tsw_status status; /* that came back */
};

static int on_host(const struct subject *s)
{
	return looks_where(s) && (s->kind == FAKE_HOST || s->kind == FAKE_PINNED);
}

/* Where CUDA cannot be started there is no device memory to be found. */
static int is_possible(const struct subject *s, const struct code *code, unsigned number)
{
	return !(looks_where(s) && !on_host(s) && number == 1 && code->usable != TSW_ERR_CUDA);
}

static tsw_status expected_status(const struct injected *x)
{
	const cudaError_t error = x->code->error;

	if (!strcmp(fake.failed, "cudaGetDeviceCount"))
		return on_host(x->scene->subject) && x->code->usable != TSW_ERR_CUDA
			       ? TSW_OK
			       : x->code->usable;
	if (!strcmp(fake.failed, "cudaMalloc") && error == cudaErrorMemoryAllocation)
		return TSW_ERR_NO_MEMORY;
	return TSW_ERR_CUDA;
}

/* The detail: which call, and how; "" after a success. */
static int detail_is_right(const struct injected *x)
{
	const char *detail = tsw_last_error();

	if (x->status == TSW_OK)
		return *detail == '\0';
	if (x->status == TSW_ERR_CUDA)
		return strstr(detail, fake.failed) == detail &&
		       strstr(detail, cudaGetErrorName(x->code->error));
	return *detail != '\0';
}

/* What the header says of the matrix: unchanged unless TSW_ERR_CUDA, and then undefined.  In truth
 * what was launched before the fault is done, and nothing else is. */
static const char *matrix_wrong(const struct injected *x)
{
	const struct scene *scene = x->scene;

	if (x->status == TSW_OK)
		return scene_wrong(scene, scene->after);
	if (x->status != TSW_ERR_CUDA || fake.launches == 0)
		return scene_wrong(scene, scene->before);
	if (fake.launches == x->launches)
		return scene_wrong(scene, scene->after);
	return scene_undefined(scene);
}

static const char *what_is_wrong(const struct injected *x)
{
	const cudaError_t left = cudaPeekAtLastError();

	if (x->status != expected_status(x))
		return "the status";
	if (!detail_is_right(x))
		return "the detail";
	if (left != fake.sticky) /* a lost context cannot be mended, everything else is ours */
		return "an error is left pending";
	if (fake.misuse[0])
		return fake.misuse;
	if (fake.live)
		return "something is leaked";
	if (fake_current() != fake.home && !fake.home_refused)
		return "the current device";
	return matrix_wrong(x);
}

/* Returns how many calls of the runtime there were, 0 if none has failed. */
static unsigned inject(struct injected *x)
{
	const struct subject *s = x->scene->subject;
	unsigned calls;
	const char *wrong;

	scene_reset(x->scene);
	fake_fail(x->number, x->code->error, x->mode);
	x->status = s->run(x->scene);
	calls = fake.calls;
	if (!fake.failed) {
		ck_assert_int_eq(x->status, TSW_OK);
		fake_finish();
		return 0;
	}
	fake_finish();
	wrong = what_is_wrong(x);
	tsw_require(!wrong,
		    "%s, n = %zu, ld = %zu, width = %zu: %s fails as call %u with %s%s: %s "
		    "(status %d, detail \"%s\")",
		    s->name, s->n, s->ld, s->width, fake.failed, x->number,
		    cudaGetErrorName(x->code->error),
		    x->mode == FAKE_ONCE ? "" : ", as do all later ones", wrong, x->status,
		    tsw_last_error());
	tally->faults++;
	fake_fail_nothing();
	cudaSetDevice(0);
	return calls;
}

/* Call number x->number fails in every way.  Returns 0 if there is no such call. */
static int inject_all(struct injected *x)
{
	const size_t step = x->scene->subject->slow ? 12 : 1;

	for (size_t c = 0; c < LENGTH(codes); c += step)
		for (int mode = FAKE_ONCE; mode <= FAKE_FROM_THEN_ON; mode++) {
			x->code = &codes[c];
			x->mode = (enum fake_mode)mode;
			if (is_possible(x->scene->subject, x->code, x->number) && !inject(x))
				return 0;
		}
	return 1;
}

static void fail_every_call(const struct subject *subject)
{
	struct scene scene = scene_new(subject);
	struct injected x = {.scene = &scene};

	check_call(&scene, scene.after);
	x.launches = fake.launches;
	for (x.number = 1; inject_all(&x); x.number++) {
		scene_reset(&scene);
		check_call(&scene, scene.after); /* no fault has left a mark */
		tally->calls++;
	}
	ck_assert_uint_gt(x.number, 1);
	tally->subjects++;
	scene_free(&scene);
}

START_TEST(every_call_fails_in_turn)
{
	const struct subject *subject = &subjects[_i];
	const unsigned faults = tally->faults, calls = tally->calls;

	fail_every_call(subject);
	if (looks_where(subject) && subject->device != 0) {
		fake.set_moves = 1;
		fail_every_call(subject);
	}
	printf("%s, n = %zu, ld = %zu, width = %zu: %u calls, %u faults\n", subject->name,
	       subject->n, subject->ld, subject->width, tally->calls - calls,
	       tally->faults - faults);
	fflush(stdout);
}
END_TEST

START_TEST(faults_were_injected)
{
	if (tally->subjects == 0) /* CK_RUN_CASE has left them out */
		return;
	ck_assert_uint_ge(tally->subjects, subject_count);
	ck_assert_uint_gt(tally->calls, 5 * tally->subjects);
	printf("in all: %u scenes, %u calls of the runtime, %zu codes, once and from then on: "
	       "%u faults\n",
	       tally->subjects, tally->calls, LENGTH(codes), tally->faults);
	fflush(stdout);
}
END_TEST

/* ---- is there CUDA at all ----------------------------------------------------------------------
 */

/* Every call that begins by asking says the same; the calls on host memory need no CUDA. */
/* Called by the library itself, which has looked already. */
static int is_inner(const struct subject *s)
{
	return strstr(s->name, "tsw_cuda_transpose") != NULL;
}

static void check_every_call(tsw_status expected, const char *detail)
{
	tsw_assert_status(tsw_cuda_status(), expected);
	ck_assert_ptr_nonnull(strstr(tsw_last_error(), detail));
	ck_assert_int_eq(tsw_device_count(), 0);
	for (size_t i = 0; i < subject_count; i++) {
		const struct subject *s = &subjects[i];
		struct scene scene;

		if (s->n == 0 || is_inner(s) || strstr(s->name, "tsw_device_") ||
		    (looks_where(s) && !on_host(s)))
			continue;
		scene = scene_new(s);
		tsw_assert_status(s->run(&scene), on_host(s) ? TSW_OK : expected);
		if (!on_host(s))
			ck_assert_ptr_nonnull(strstr(tsw_last_error(), detail));
		ck_assert_int_eq(cudaPeekAtLastError(), cudaSuccess);
		ck_assert_ptr_null(scene_wrong(&scene, on_host(s) ? scene.after : scene.before));
		scene_free(&scene);
	}
}

START_TEST(a_machine_without_a_driver)
{
	fake.driver = 0;
	check_every_call(TSW_ERR_NO_CUDA, "no CUDA driver is installed");
	fake.driver = 11040;
	check_every_call(TSW_ERR_NO_CUDA, "too old: it serves CUDA 11.4, this build needs");
}
END_TEST

START_TEST(a_driver_without_a_device)
{
	fake.devices = 0;
	check_every_call(TSW_ERR_NO_DEVICE, "no device");
	fake_set_pending(CALLERS);
	tsw_assert_status(tsw_cuda_status(), TSW_ERR_NO_DEVICE);
	ck_assert_int_eq(cudaPeekAtLastError(), CALLERS);
	fake_fail_nothing();
	fake.none_is_error = 1;
	check_every_call(TSW_ERR_NO_DEVICE, "no device");
}
END_TEST

START_TEST(counting_devices_leaves_no_error)
{
	ck_assert_int_eq(tsw_device_count(), 2);
	for (unsigned number = 1; number <= 2; number++) {
		fake_fail(number, cudaErrorInvalidValue, FAKE_ONCE);
		ck_assert_int_eq(tsw_device_count(), 0);
		ck_assert_ptr_nonnull(fake.failed);
		ck_assert_int_eq(cudaPeekAtLastError(), cudaSuccess);
	}
}
END_TEST

/* ---- what is refused ---------------------------------------------------------------------------
 */

/* Refused without any call of the runtime that failed, before anything is queued. */
static void check_refused(struct scene *scene, tsw_status expected, const char *detail)
{
	fake_fail_nothing();
	fake_set_pending(CALLERS);
	tsw_assert_status(scene->subject->run(scene), expected);
	ck_assert_msg(strstr(tsw_last_error(), detail) != NULL, "%s: %s", scene->subject->name,
		      tsw_last_error());
	ck_assert_int_eq(cudaPeekAtLastError(), CALLERS);
	ck_assert_uint_eq(fake.launches, 0);
	fake_finish();
	ck_assert_ptr_null(scene_wrong(scene, scene->before));
}

static int works_on_memory(const struct subject *s)
{
	return s->n > 0 && s->count == 0 && !looks_where(s) && !strstr(s->name, "tsw_device_");
}

static void check_refused_there(const struct subject *subject, enum fake_kind kind, int device,
				const char *detail)
{
	struct subject elsewhere = *subject;
	struct scene scene;

	elsewhere.kind = kind;
	elsewhere.device = device;
	scene = scene_new(&elsewhere);
	check_refused(&scene, TSW_ERR_WHERE, detail);
	scene_free(&scene);
}

START_TEST(memory_out_of_reach_is_refused)
{
	unsigned tried = 0;

	for (size_t i = 0; i < subject_count; i++) {
		if (!works_on_memory(&subjects[i]))
			continue;
		check_refused_there(&subjects[i], FAKE_HOST, 0, "host memory");
		check_refused_there(&subjects[i], FAKE_DEVICE, 1, "memory of device 1");
		tried++;
	}
	ck_assert_uint_gt(tried, 50);
}
END_TEST

START_TEST(a_misaligned_address_is_refused_wherever_it_lies)
{
	for (size_t i = 0; i < subject_count; i++) {
		struct subject s = subjects[i];
		struct scene scene;

		if (!strstr(s.name, "transpose") || is_inner(&s) || s.count || on_host(&s) ||
		    s.width % 2)
			continue;
		s.offset += s.width % 4 ? 1 : 2;
		scene = scene_new(&s);
		check_refused(&scene, TSW_ERR_ALIGN, "no multiple of");
		scene_free(&scene);
	}
}
END_TEST

/* ---- capture -----------------------------------------------------------------------------------
 */

START_TEST(what_is_captured_runs_when_it_is_replayed)
{
	for (size_t i = 0; i < subject_count; i++) {
		const struct subject *s = &subjects[i];
		struct scene scene;

		if (s->waits || !s->family)
			continue;
		scene = scene_new(s);
		fake_capture_begin(scene.stream);
		tsw_assert_ok(s->run(&scene));
		fake_capture_end(scene.stream);
		fake_finish();
		ck_assert_ptr_null(scene_wrong(&scene, scene.before));
		fake_replay(scene.stream);
		fake_finish();
		ck_assert_ptr_null(scene_wrong(&scene, scene.after));
		fake_replay(scene.stream);
		fake_finish();
		ck_assert_ptr_null(scene_wrong(&scene, scene.after_twice));
		ck_assert_str_eq(fake.misuse, "");
		scene_free(&scene);
	}
}
END_TEST

static const struct subject *a_checksum(void)
{
	const struct subject *s = subjects;

	while (strcmp(s->name, "tsw_checksum_device"))
		s++;
	return s;
}

START_TEST(a_checksum_is_not_captured)
{
	struct scene scene = scene_new(a_checksum());

	fake_capture_begin(scene.stream);
	check_refused(&scene, TSW_ERR_CUDA, "captured");
	ck_assert_uint_eq(fake.waits, 0);
	ck_assert_str_eq(fake.misuse, "");
	fake_capture_end(scene.stream);
	scene_free(&scene);
}
END_TEST

/* ---- the checksum's slots ----------------------------------------------------------------------
 */

/* Fails once in every call, far more often than there are slots; a slot that is lost is waited for
 * in vain. */
START_TEST(a_failed_checksum_gives_its_slot_back)
{
	struct scene scene = scene_new(a_checksum());

	for (unsigned round = 0; round < 20 * TSW_DIGEST_SLOTS; round++) {
		fake_fail(1 + round % 8, cudaErrorInvalidValue, FAKE_ONCE);
		tsw_assert_status(scene.subject->run(&scene), TSW_ERR_CUDA);
		fake_finish();
	}
	check_call(&scene, scene.after);
	scene_free(&scene);
}
END_TEST

/* What a failed call has queued on its stream must not run into the sums of another call, which
 * gets the same slot, on another stream. */
START_TEST(a_failed_checksum_leaves_nothing_running)
{
	struct scene failing = scene_new(a_checksum()), other = scene_new(a_checksum());
	unsigned after_launch = 0;

	for (unsigned number = 1;; number++) {
		fake_fail(number, cudaErrorInvalidValue, FAKE_ONCE);
		if (failing.subject->run(&failing) == TSW_OK)
			break;
		after_launch += fake.launches > 0;
		check_call(&other, other.after);
	}
	ck_assert_uint_ge(after_launch, 2);
	scene_free(&failing);
	scene_free(&other);
}
END_TEST

/* ---- the current device ------------------------------------------------------------------------
 */

/* Matrices of one device, and of the other, whichever is current. */
START_TEST(transpose_keeps_the_current_device)
{
	for (int current = 0; current < 2; current++)
		for (size_t i = 0; i < subject_count; i++) {
			struct scene scene;

			if (!looks_where(&subjects[i]))
				continue;
			ck_assert_int_eq(cudaSetDevice(current), cudaSuccess);
			scene = scene_new(&subjects[i]);
			check_call(&scene, scene.after);
			ck_assert_int_eq(fake_current(), current);
			scene_free(&scene);
		}
}
END_TEST

static Suite *faults_suite(void)
{
	Suite *suite = suite_create("cuda faults");
	TCase *tc = tcase_create("clean");

	tcase_add_loop_test(tc, without_a_fault, 0, (int)subject_count);
	tcase_add_test(tc, an_older_gpu_is_asked_for_nothing_new);
	tcase_add_test(tc, every_family_of_kernels_is_reached);
	tcase_add_test(tc, transpose_keeps_the_current_device);
	suite_add_tcase(suite, tc);
	tc = tcase_create("refusals");
	tcase_add_test(tc, a_machine_without_a_driver);
	tcase_add_test(tc, a_driver_without_a_device);
	tcase_add_test(tc, counting_devices_leaves_no_error);
	tcase_add_test(tc, memory_out_of_reach_is_refused);
	tcase_add_test(tc, a_misaligned_address_is_refused_wherever_it_lies);
	tcase_add_test(tc, what_is_captured_runs_when_it_is_replayed);
	tcase_add_test(tc, a_checksum_is_not_captured);
	suite_add_tcase(suite, tc);
	tc = tcase_create("slots");
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_failed_checksum_gives_its_slot_back);
	tcase_add_test(tc, a_failed_checksum_leaves_nothing_running);
	suite_add_tcase(suite, tc);
	tc = tcase_create("faults");
	tcase_add_loop_test(tc, every_call_fails_in_turn, 0, (int)subject_count);
	tcase_add_test(tc, faults_were_injected);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (tally == MAP_FAILED) {
		perror("mmap");
		return EXIT_FAILURE;
	}
	return tsw_test_main(TSW_FORK_TESTS, (tsw_suite *[]){faults_suite}, 1);
}
