! tileswap for Fortran: transpose a square matrix where it lies.
!
! SPDX-License-Identifier: BSD-3-Clause
!
! Two layers:
!
!   tsw_transpose(a), tsw_checksum(a, digest)
!                       generic, for real and complex arrays of both kinds.  `a` may be a section
!                       whose columns are contiguous, as w(1:n, 1:n) of a larger array is: no copy
!                       is made.  Rank 3 is a batch over the last index.
!   tsw_imatcopy(a, op [, alpha])
!                       the same arrays: transpose, conjugate and scale in one pass; alpha is of a's
!                       type and kind.
!   tsw_transpose_host, tsw_transpose_device, ...
!                       the C calls one to one, on type(c_ptr): any element size, device pointers,
!                       CUDA streams, and tsw_imatcopy_* of numbers that Fortran has no kind for,
!                       tsw_half and tsw_bfloat16.
!
!   tsw_transpose_file(path, options)
!                       a matrix in a file.
!
! Every function returns a status, tsw_ok or one of tsw_err_*; tsw_last_error() has the detail.  What
! a call means stands in tileswap.h.  Sizes are 64-bit: integer(c_size_t).
module tileswap
    use, intrinsic :: iso_c_binding, only: c_char, c_double, c_double_complex, c_f_pointer, c_float, &
        c_float_complex, c_funptr, c_int, c_int64_t, c_loc, c_null_char, c_null_funptr, c_null_ptr, c_ptr, &
        c_size_t, c_sizeof
    implicit none
    private

    public :: tsw_transpose, tsw_imatcopy, tsw_checksum
    public :: tsw_transpose_host, tsw_transpose_device
    public :: tsw_transpose_batch_host, tsw_transpose_batch_device
    public :: tsw_transpose_array_host, tsw_transpose_array_device
    public :: tsw_imatcopy_host, tsw_imatcopy_device
    public :: tsw_imatcopy_batch_host, tsw_imatcopy_batch_device
    public :: tsw_checksum_host, tsw_checksum_device
    public :: tsw_transpose_file
    public :: tsw_cuda_status, tsw_version, tsw_strerror, tsw_last_error

    integer(c_int), parameter, public :: &
        tsw_ok = 0, &
        tsw_err_null = 1, &
        tsw_err_ld = 2, &
        tsw_err_elem_size = 3, &
        tsw_err_overflow = 4, &
        tsw_err_align = 5, &
        tsw_err_stride = 6, &
        tsw_err_op = 7, &
        tsw_err_type = 8, &
        tsw_err_threads = 9, &
        tsw_err_where = 10, &
        tsw_err_option = 11, &
        tsw_err_format = 12, &
        tsw_err_no_cuda = 20, &
        tsw_err_no_device = 21, &
        tsw_err_no_memory = 22, &
        tsw_err_cuda = 23, &
        tsw_err_io = 24, &
        tsw_err_mismatch = 25, &
        tsw_err_interrupted = 26, &
        tsw_err_journal = 27, &
        tsw_err_locked = 28, &
        tsw_err_unsupported = 29, &
        tsw_err_comm = 30

    integer(c_int), parameter, public :: &
        tsw_float = 0, &
        tsw_double = 1, &
        tsw_complex_float = 2, &
        tsw_complex_double = 3, &
        tsw_half = 4, &
        tsw_bfloat16 = 5

    integer(c_int), parameter, public :: &
        tsw_format_auto = 0, &
        tsw_format_raw = 1, &
        tsw_format_npy = 2, &
        tsw_format_hdf5 = 3, &
        tsw_format_safetensors = 4, &
        tsw_durable_power = 0, &
        tsw_durable_process = 1

    ! The legacy default stream is c_null_ptr.
    type, bind(c), public :: tsw_digest
        integer(c_int64_t) :: placed, values ! the bits of C's uint64_t
    end type tsw_digest

    ! tsw_transpose_file() sets struct_size, dataset and out_path.
    type, bind(c), public :: tsw_file_options
        integer(c_size_t) :: struct_size = 0
        integer(c_size_t) :: n = 0, ld = 0, elem_size = 0
        integer(c_int64_t) :: offset_bytes = 0, memory_bytes = 0
        integer(c_int) :: nthreads = 0
        integer(c_int) :: durability = tsw_durable_power
        integer(c_int) :: format = tsw_format_auto
        integer(c_int) :: verify = 0
        type(c_ptr) :: dataset = c_null_ptr, out_path = c_null_ptr
        type(c_funptr) :: progress = c_null_funptr
        type(c_ptr) :: user = c_null_ptr
        integer(c_int) :: once = 0, flag_only = 0, force = 0
    end type tsw_file_options

    type, bind(c), public :: tsw_file_result
        integer(c_size_t) :: struct_size = 0
        integer(c_size_t) :: n = 0, ld = 0, elem_size = 0
        integer(c_int64_t) :: offset_bytes = 0
        integer(c_int) :: format = 0, column_major = 0
        integer(c_int64_t) :: bytes_read = 0, bytes_written = 0, bytes_journalled = 0
        integer(c_int64_t) :: resumed_from_pair = -1 ! -1: nothing was resumed
        integer(c_int64_t) :: pairs = 0
        integer(c_int) :: already_done = 0
        type(tsw_digest) :: before, after
    end type tsw_file_result

    interface
        function tsw_transpose_any(a, n, ld, elem_size) bind(c, name="tsw_transpose") result(status)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value :: a
            integer(c_size_t), value :: n, ld, elem_size
            integer(c_int) :: status
        end function

        function tsw_transpose_host(a, n, ld, elem_size, nthreads) bind(c) result(status)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value :: a
            integer(c_size_t), value :: n, ld, elem_size
            integer(c_int), value :: nthreads
            integer(c_int) :: status
        end function

        function tsw_transpose_device(a, n, ld, elem_size, stream) bind(c) result(status)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value :: a
            integer(c_size_t), value :: n, ld, elem_size
            type(c_ptr), value :: stream
            integer(c_int) :: status
        end function

        function tsw_transpose_batch_host(a, n, ld, elem_size, stride, count, nthreads) bind(c) &
            result(status)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value :: a
            integer(c_size_t), value :: n, ld, elem_size, stride, count
            integer(c_int), value :: nthreads
            integer(c_int) :: status
        end function

        function tsw_transpose_batch_device(a, n, ld, elem_size, stride, count, stream) bind(c) &
            result(status)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value :: a
            integer(c_size_t), value :: n, ld, elem_size, stride, count
            type(c_ptr), value :: stream
            integer(c_int) :: status
        end function

        function tsw_transpose_array_host(a, n, ld, elem_size, count, nthreads) bind(c) result(status)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), intent(in) :: a(*)
            integer(c_size_t), value :: n, ld, elem_size, count
            integer(c_int), value :: nthreads
            integer(c_int) :: status
        end function

        ! `a` is a device array of device pointers.
        function tsw_transpose_array_device(a, n, ld, elem_size, count, stream) bind(c) result(status)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value :: a
            integer(c_size_t), value :: n, ld, elem_size, count
            type(c_ptr), value :: stream
            integer(c_int) :: status
        end function

        ! `alpha` is the address of one value of the type, of a real(c_float) for tsw_half and
        ! tsw_bfloat16, in host memory, or c_null_ptr for 1.
        function tsw_imatcopy_host(op, type, n, alpha, a, ld, nthreads) bind(c) &
            result(status)
            import :: c_char, c_int, c_ptr, c_size_t
            character(kind=c_char), value :: op
            integer(c_int), value :: type
            type(c_ptr), value :: alpha, a
            integer(c_size_t), value :: n, ld
            integer(c_int), value :: nthreads
            integer(c_int) :: status
        end function

        function tsw_imatcopy_device(op, type, n, alpha, a, ld, stream) bind(c) &
            result(status)
            import :: c_char, c_int, c_ptr, c_size_t
            character(kind=c_char), value :: op
            integer(c_int), value :: type
            type(c_ptr), value :: alpha, a
            integer(c_size_t), value :: n, ld
            type(c_ptr), value :: stream
            integer(c_int) :: status
        end function

        function tsw_imatcopy_batch_host(op, type, n, alpha, a, ld, stride, count, nthreads) bind(c) &
            result(status)
            import :: c_char, c_int, c_ptr, c_size_t
            character(kind=c_char), value :: op
            integer(c_int), value :: type
            type(c_ptr), value :: alpha, a
            integer(c_size_t), value :: n, ld, stride, count
            integer(c_int), value :: nthreads
            integer(c_int) :: status
        end function

        function tsw_imatcopy_batch_device(op, type, n, alpha, a, ld, stride, count, stream) bind(c) &
            result(status)
            import :: c_char, c_int, c_ptr, c_size_t
            character(kind=c_char), value :: op
            integer(c_int), value :: type
            type(c_ptr), value :: alpha, a
            integer(c_size_t), value :: n, ld, stride, count
            type(c_ptr), value :: stream
            integer(c_int) :: status
        end function

        ! C's rows are Fortran's columns: transposed = 1 gives the digest by (row, column) as Fortran
        ! indexes them.
        function tsw_checksum_host(a, n, ld, elem_size, transposed, digest, nthreads) bind(c) &
            result(status)
            import :: c_int, c_ptr, c_size_t, tsw_digest
            type(c_ptr), value :: a
            integer(c_size_t), value :: n, ld, elem_size
            integer(c_int), value :: transposed
            type(tsw_digest), intent(out) :: digest
            integer(c_int), value :: nthreads
            integer(c_int) :: status
        end function

        function tsw_checksum_device(a, n, ld, elem_size, transposed, digest, stream) bind(c) &
            result(status)
            import :: c_int, c_ptr, c_size_t, tsw_digest
            type(c_ptr), value :: a
            integer(c_size_t), value :: n, ld, elem_size
            integer(c_int), value :: transposed
            type(tsw_digest), intent(out) :: digest
            type(c_ptr), value :: stream
            integer(c_int) :: status
        end function

        function c_transpose_file(path, options, found) bind(c, name="tsw_transpose_file") result(status)
            import :: c_char, c_int, tsw_file_options, tsw_file_result
            character(kind=c_char), intent(in) :: path(*)
            type(tsw_file_options), intent(in) :: options
            type(tsw_file_result), intent(inout) :: found
            integer(c_int) :: status
        end function

        function tsw_cuda_status() bind(c) result(status)
            import :: c_int
            integer(c_int) :: status
        end function

        function c_version() bind(c, name="tsw_version") result(text)
            import :: c_ptr
            type(c_ptr) :: text
        end function

        function c_strerror(status) bind(c, name="tsw_strerror") result(text)
            import :: c_int, c_ptr
            integer(c_int), value :: status
            type(c_ptr) :: text
        end function

        function c_last_error() bind(c, name="tsw_last_error") result(text)
            import :: c_ptr
            type(c_ptr) :: text
        end function

        function c_error_line(failed) bind(c, name="tsw_error_line") result(line)
            import :: c_int, c_ptr
            integer(c_int), value :: failed
            type(c_ptr) :: line
        end function

        function c_strlen(text) bind(c, name="strlen") result(length)
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
            integer(c_size_t) :: length
        end function
    end interface

    ! tsw_transpose(a [, nthreads]) for arrays, tsw_transpose(a, n, ld, elem_size) for a c_ptr.
    interface tsw_transpose
        procedure :: tsw_transpose_any
        procedure :: transpose_s2, transpose_d2, transpose_c2, transpose_z2
        procedure :: transpose_s3, transpose_d3, transpose_c3, transpose_z3
    end interface

    ! tsw_imatcopy(a, op [, alpha] [, nthreads]): a = alpha * op(a), op one of N, T, C, R.
    interface tsw_imatcopy
        procedure :: imatcopy_s2, imatcopy_d2, imatcopy_c2, imatcopy_z2
        procedure :: imatcopy_s3, imatcopy_d3, imatcopy_c3, imatcopy_z3
    end interface

    ! tsw_checksum(a, digest [, transposed] [, nthreads]): rows and columns as Fortran indexes them.
    interface tsw_checksum
        procedure :: checksum_s, checksum_d, checksum_c, checksum_z
    end interface

    integer, parameter :: error_line_bytes = 512 ! TSW_ERROR_LINE of tileswap_dist.h

    ! Where an array lies, taken from the addresses of its elements, so that a section shows its
    ! strides.  Bytes.
    type :: layout
        type(c_ptr) :: base = c_null_ptr
        integer(c_size_t) :: rows = 0, cols = 0, count = 1, elem_size = 1
        integer(c_size_t) :: down = 0, along = 0, across = 0 ! one row, column, matrix further
    end type layout

contains

    function tsw_version() result(text)
        character(kind=c_char, len=:), allocatable :: text
        text = from_c(c_version())
    end function

    function tsw_strerror(status) result(text)
        integer(c_int), intent(in) :: status
        character(kind=c_char, len=:), allocatable :: text
        text = from_c(c_strerror(status))
    end function

    ! The detail of this thread's last call that failed; empty after one that succeeded.
    function tsw_last_error() result(text)
        character(kind=c_char, len=:), allocatable :: text
        text = from_c(c_last_error())
    end function

    ! Trailing blanks of names are no part of them.
    function tsw_transpose_file(path, options, found, dataset, out_path) result(status)
        character(len=*), intent(in) :: path
        type(tsw_file_options), intent(in), optional :: options
        type(tsw_file_result), intent(out), optional :: found
        character(len=*), intent(in), optional :: dataset, out_path
        integer(c_int) :: status
        type(tsw_file_options) :: o
        type(tsw_file_result) :: f
        character(kind=c_char, len=:), allocatable, target :: dataset_c, out_path_c

        status = tsw_ok
        ! C would end there and take another file.
        if (ends_early(path)) status = fail(tsw_err_option, 'path holds a zero byte')
        if (present(dataset)) then
            if (ends_early(dataset)) status = fail(tsw_err_option, 'dataset holds a zero byte')
        end if
        if (present(out_path)) then
            if (ends_early(out_path)) status = fail(tsw_err_option, 'out_path holds a zero byte')
        end if
        if (status /= tsw_ok) return
        if (present(options)) o = options
        o%struct_size = c_sizeof(o)
        f%struct_size = c_sizeof(f)
        if (present(dataset)) then
            dataset_c = trim(dataset)//c_null_char
            o%dataset = c_loc(dataset_c)
        end if
        if (present(out_path)) then
            out_path_c = trim(out_path)//c_null_char
            o%out_path = c_loc(out_path_c)
        end if
        status = c_transpose_file(trim(path)//c_null_char, o, f)
        if (present(found)) found = f
    end function

    ! A zero byte at the end does no harm.
    function ends_early(text)
        character(len=*), intent(in) :: text
        logical :: ends_early
        integer :: at

        at = index(text, c_null_char)
        ends_early = .false.
        if (at > 0) ends_early = verify(text(at:), c_null_char//' ') /= 0
    end function

    function from_c(string) result(text)
        type(c_ptr), intent(in) :: string
        character(kind=c_char, len=:), allocatable :: text
        character(kind=c_char), pointer :: bytes(:)
        integer(c_size_t) :: i, length

        length = c_strlen(string)
        call c_f_pointer(string, bytes, [length])
        allocate (character(kind=c_char, len=length) :: text)
        do i = 1, length
            text(i:i) = bytes(i)
        end do
    end function

    ! ---- one body for all kinds -------------------------------------------------------------------

    function distance(from, to) result(bytes)
        type(c_ptr), intent(in) :: from, to
        integer(c_size_t) :: bytes
        bytes = transfer(to, bytes) - transfer(from, bytes)
    end function

    ! `first` is the layout of one of `count` matrices, `next` where the next one begins.
    function batch(first, count, next) result(at)
        type(layout), intent(in) :: first
        integer(c_size_t), intent(in) :: count
        type(c_ptr), intent(in) :: next
        type(layout) :: at

        at = first
        at%count = count
        at%across = distance(first%base, next)
    end function

    function decimal(number) result(text)
        integer(c_size_t), intent(in) :: number
        character(len=:), allocatable :: text
        character(len=24) :: digits

        write (digits, '(i0)') number
        text = trim(digits)
    end function

    ! What tsw_last_error() returns from now on.
    function fail(status, detail) result(same)
        integer(c_int), intent(in) :: status
        character(len=*), intent(in) :: detail
        integer(c_int) :: same
        character(kind=c_char), pointer :: line(:)
        integer :: i

        call c_f_pointer(c_error_line(1_c_int), line, [error_line_bytes])
        do i = 1, min(len(detail), error_line_bytes - 1)
            line(i) = detail(i:i)
        end do
        line(i) = c_null_char
        same = status
    end function

    function fail_apart(what, apart, wanted) result(status)
        character(len=*), intent(in) :: what, wanted
        integer(c_size_t), intent(in) :: apart
        integer(c_int) :: status
        status = fail(tsw_err_stride, what//' lie '//decimal(apart)//' bytes apart, not '//wanted)
    end function

    ! Fortran's columns are C's rows: `along`, from column to column, is ld.  A matrix that is not
    ! square is refused as ld < n is; a section whose columns have gaps, or that runs backwards, as
    ! a stride that cannot be.
    function c_shape(at, n, ld, stride) result(status)
        type(layout), intent(in) :: at
        integer(c_size_t), intent(out) :: n, ld, stride
        integer(c_int) :: status

        n = at%rows
        ld = n
        stride = 0
        status = tsw_ok
        if (at%rows /= at%cols) then
            status = fail(tsw_err_ld, 'a is '//decimal(at%rows)//' x '//decimal(at%cols)//', not square')
            return
        end if
        if (n > 1 .and. at%count > 0) then
            if (at%down /= at%elem_size) then
                status = fail_apart('the elements of a column of a', at%down, decimal(at%elem_size))
                return
            end if
            if (at%along < 0 .or. mod(at%along, at%elem_size) /= 0) then
                status = fail_apart('the columns of a', at%along, 'a positive multiple of '//decimal(at%elem_size))
                return
            end if
            ld = at%along / at%elem_size
        end if
        if (at%count > 1) then
            if (at%across < 0 .or. mod(at%across, at%elem_size) /= 0) then
                status = fail_apart('the matrices of a', at%across, 'a positive multiple of '//decimal(at%elem_size))
                return
            end if
            stride = at%across / at%elem_size
        end if
    end function

    function run_transpose(at, nthreads) result(status)
        type(layout), intent(in) :: at
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status, threads
        integer(c_size_t) :: n, ld, stride

        threads = 0
        if (present(nthreads)) threads = nthreads
        status = c_shape(at, n, ld, stride)
        if (status == tsw_ok) &
            status = tsw_transpose_batch_host(at%base, n, ld, at%elem_size, stride, at%count, threads)
    end function

    ! Every op does the same to Fortran's columns as to C's rows.  `letter`: gfortran 12 hands on a
    ! character dummy's address where its value is asked for.
    function run_imatcopy(op, type, alpha, at, nthreads) result(status)
        character(kind=c_char), intent(in) :: op
        integer(c_int), intent(in) :: type
        type(c_ptr), intent(in) :: alpha
        type(layout), intent(in) :: at
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status, threads
        integer(c_size_t) :: n, ld, stride
        character(kind=c_char) :: letter

        letter = op
        threads = 0
        if (present(nthreads)) threads = nthreads
        status = c_shape(at, n, ld, stride)
        if (status == tsw_ok) &
            status = tsw_imatcopy_batch_host(letter, type, n, alpha, at%base, ld, stride, at%count, threads)
    end function

    function run_checksum(at, digest, transposed, nthreads) result(status)
        type(layout), intent(in) :: at
        type(tsw_digest), intent(out) :: digest
        logical, intent(in), optional :: transposed
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status, threads, flipped
        integer(c_size_t) :: n, ld, stride

        threads = 0
        if (present(nthreads)) threads = nthreads
        flipped = 1
        if (present(transposed)) flipped = merge(0, 1, transposed)
        digest = tsw_digest(0, 0)
        status = c_shape(at, n, ld, stride)
        if (status == tsw_ok) &
            status = tsw_checksum_host(at%base, n, ld, at%elem_size, flipped, digest, threads)
    end function

    ! ---- real(4)

    function layout_s(a) result(at)
        real(c_float), intent(in), target :: a(:, :)
        type(layout) :: at

        at%rows = size(a, 1, c_size_t)
        at%cols = size(a, 2, c_size_t)
        at%elem_size = storage_size(a, c_size_t) / 8
        if (size(a, kind=c_size_t) == 0) return
        at%base = c_loc(a(1, 1))
        at%down = distance(at%base, c_loc(a(min(2_c_size_t, at%rows), 1)))
        at%along = distance(at%base, c_loc(a(1, min(2_c_size_t, at%cols))))
    end function

    function transpose_s2(a, nthreads) result(status)
        real(c_float), intent(inout), target :: a(:, :)
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        status = run_transpose(layout_s(a), nthreads)
    end function

    function transpose_s3(a, nthreads) result(status)
        real(c_float), intent(inout), target :: a(:, :, :)
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        if (size(a, kind=c_size_t) == 0) then
            status = run_transpose(layout(rows=size(a, 1, c_size_t), cols=size(a, 2, c_size_t), &
                count=size(a, 3, c_size_t)), nthreads)
        else
            status = run_transpose(batch(layout_s(a(:, :, 1)), size(a, 3, c_size_t), &
                c_loc(a(1, 1, min(2_c_size_t, size(a, 3, c_size_t))))), nthreads)
        end if
    end function

    function checksum_s(a, digest, transposed, nthreads) result(status)
        real(c_float), intent(in), target :: a(:, :)
        type(tsw_digest), intent(out) :: digest
        logical, intent(in), optional :: transposed
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        status = run_checksum(layout_s(a), digest, transposed, nthreads)
    end function

    ! ---- real(8)

    function layout_d(a) result(at)
        real(c_double), intent(in), target :: a(:, :)
        type(layout) :: at

        at%rows = size(a, 1, c_size_t)
        at%cols = size(a, 2, c_size_t)
        at%elem_size = storage_size(a, c_size_t) / 8
        if (size(a, kind=c_size_t) == 0) return
        at%base = c_loc(a(1, 1))
        at%down = distance(at%base, c_loc(a(min(2_c_size_t, at%rows), 1)))
        at%along = distance(at%base, c_loc(a(1, min(2_c_size_t, at%cols))))
    end function

    function transpose_d2(a, nthreads) result(status)
        real(c_double), intent(inout), target :: a(:, :)
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        status = run_transpose(layout_d(a), nthreads)
    end function

    function transpose_d3(a, nthreads) result(status)
        real(c_double), intent(inout), target :: a(:, :, :)
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        if (size(a, kind=c_size_t) == 0) then
            status = run_transpose(layout(rows=size(a, 1, c_size_t), cols=size(a, 2, c_size_t), &
                count=size(a, 3, c_size_t)), nthreads)
        else
            status = run_transpose(batch(layout_d(a(:, :, 1)), size(a, 3, c_size_t), &
                c_loc(a(1, 1, min(2_c_size_t, size(a, 3, c_size_t))))), nthreads)
        end if
    end function

    function checksum_d(a, digest, transposed, nthreads) result(status)
        real(c_double), intent(in), target :: a(:, :)
        type(tsw_digest), intent(out) :: digest
        logical, intent(in), optional :: transposed
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        status = run_checksum(layout_d(a), digest, transposed, nthreads)
    end function

    ! ---- complex(4)

    function layout_c(a) result(at)
        complex(c_float_complex), intent(in), target :: a(:, :)
        type(layout) :: at

        at%rows = size(a, 1, c_size_t)
        at%cols = size(a, 2, c_size_t)
        at%elem_size = storage_size(a, c_size_t) / 8
        if (size(a, kind=c_size_t) == 0) return
        at%base = c_loc(a(1, 1))
        at%down = distance(at%base, c_loc(a(min(2_c_size_t, at%rows), 1)))
        at%along = distance(at%base, c_loc(a(1, min(2_c_size_t, at%cols))))
    end function

    function transpose_c2(a, nthreads) result(status)
        complex(c_float_complex), intent(inout), target :: a(:, :)
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        status = run_transpose(layout_c(a), nthreads)
    end function

    function transpose_c3(a, nthreads) result(status)
        complex(c_float_complex), intent(inout), target :: a(:, :, :)
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        if (size(a, kind=c_size_t) == 0) then
            status = run_transpose(layout(rows=size(a, 1, c_size_t), cols=size(a, 2, c_size_t), &
                count=size(a, 3, c_size_t)), nthreads)
        else
            status = run_transpose(batch(layout_c(a(:, :, 1)), size(a, 3, c_size_t), &
                c_loc(a(1, 1, min(2_c_size_t, size(a, 3, c_size_t))))), nthreads)
        end if
    end function

    function checksum_c(a, digest, transposed, nthreads) result(status)
        complex(c_float_complex), intent(in), target :: a(:, :)
        type(tsw_digest), intent(out) :: digest
        logical, intent(in), optional :: transposed
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        status = run_checksum(layout_c(a), digest, transposed, nthreads)
    end function

    ! ---- complex(8)

    function layout_z(a) result(at)
        complex(c_double_complex), intent(in), target :: a(:, :)
        type(layout) :: at

        at%rows = size(a, 1, c_size_t)
        at%cols = size(a, 2, c_size_t)
        at%elem_size = storage_size(a, c_size_t) / 8
        if (size(a, kind=c_size_t) == 0) return
        at%base = c_loc(a(1, 1))
        at%down = distance(at%base, c_loc(a(min(2_c_size_t, at%rows), 1)))
        at%along = distance(at%base, c_loc(a(1, min(2_c_size_t, at%cols))))
    end function

    function transpose_z2(a, nthreads) result(status)
        complex(c_double_complex), intent(inout), target :: a(:, :)
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        status = run_transpose(layout_z(a), nthreads)
    end function

    function transpose_z3(a, nthreads) result(status)
        complex(c_double_complex), intent(inout), target :: a(:, :, :)
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        if (size(a, kind=c_size_t) == 0) then
            status = run_transpose(layout(rows=size(a, 1, c_size_t), cols=size(a, 2, c_size_t), &
                count=size(a, 3, c_size_t)), nthreads)
        else
            status = run_transpose(batch(layout_z(a(:, :, 1)), size(a, 3, c_size_t), &
                c_loc(a(1, 1, min(2_c_size_t, size(a, 3, c_size_t))))), nthreads)
        end if
    end function

    function checksum_z(a, digest, transposed, nthreads) result(status)
        complex(c_double_complex), intent(in), target :: a(:, :)
        type(tsw_digest), intent(out) :: digest
        logical, intent(in), optional :: transposed
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        status = run_checksum(layout_z(a), digest, transposed, nthreads)
    end function

    ! ---- imatcopy of all kinds

    function imatcopy_s2(a, op, alpha, nthreads) result(status)
        real(c_float), intent(inout), target :: a(:, :)
        character(kind=c_char), intent(in) :: op
        real(c_float), intent(in), optional, target :: alpha
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        status = run_imatcopy(op, tsw_float, at_or_null_s(alpha), layout_s(a), nthreads)
    end function

    function imatcopy_s3(a, op, alpha, nthreads) result(status)
        real(c_float), intent(inout), target :: a(:, :, :)
        character(kind=c_char), intent(in) :: op
        real(c_float), intent(in), optional, target :: alpha
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        if (size(a, kind=c_size_t) == 0) then
            status = run_imatcopy(op, tsw_float, at_or_null_s(alpha), layout(rows=size(a, 1, c_size_t), &
                cols=size(a, 2, c_size_t), count=size(a, 3, c_size_t)), nthreads)
        else
            status = run_imatcopy(op, tsw_float, at_or_null_s(alpha), batch(layout_s(a(:, :, 1)), &
                size(a, 3, c_size_t), c_loc(a(1, 1, min(2_c_size_t, size(a, 3, c_size_t))))), nthreads)
        end if
    end function

    ! An alpha that is not given is 1.
    function at_or_null_s(alpha) result(at)
        real(c_float), intent(in), optional, target :: alpha
        type(c_ptr) :: at

        at = c_null_ptr
        if (present(alpha)) at = c_loc(alpha)
    end function

    function imatcopy_d2(a, op, alpha, nthreads) result(status)
        real(c_double), intent(inout), target :: a(:, :)
        character(kind=c_char), intent(in) :: op
        real(c_double), intent(in), optional, target :: alpha
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        status = run_imatcopy(op, tsw_double, at_or_null_d(alpha), layout_d(a), nthreads)
    end function

    function imatcopy_d3(a, op, alpha, nthreads) result(status)
        real(c_double), intent(inout), target :: a(:, :, :)
        character(kind=c_char), intent(in) :: op
        real(c_double), intent(in), optional, target :: alpha
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        if (size(a, kind=c_size_t) == 0) then
            status = run_imatcopy(op, tsw_double, at_or_null_d(alpha), layout(rows=size(a, 1, c_size_t), &
                cols=size(a, 2, c_size_t), count=size(a, 3, c_size_t)), nthreads)
        else
            status = run_imatcopy(op, tsw_double, at_or_null_d(alpha), batch(layout_d(a(:, :, 1)), &
                size(a, 3, c_size_t), c_loc(a(1, 1, min(2_c_size_t, size(a, 3, c_size_t))))), nthreads)
        end if
    end function

    ! An alpha that is not given is 1.
    function at_or_null_d(alpha) result(at)
        real(c_double), intent(in), optional, target :: alpha
        type(c_ptr) :: at

        at = c_null_ptr
        if (present(alpha)) at = c_loc(alpha)
    end function

    function imatcopy_c2(a, op, alpha, nthreads) result(status)
        complex(c_float_complex), intent(inout), target :: a(:, :)
        character(kind=c_char), intent(in) :: op
        complex(c_float_complex), intent(in), optional, target :: alpha
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        status = run_imatcopy(op, tsw_complex_float, at_or_null_c(alpha), layout_c(a), nthreads)
    end function

    function imatcopy_c3(a, op, alpha, nthreads) result(status)
        complex(c_float_complex), intent(inout), target :: a(:, :, :)
        character(kind=c_char), intent(in) :: op
        complex(c_float_complex), intent(in), optional, target :: alpha
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        if (size(a, kind=c_size_t) == 0) then
            status = run_imatcopy(op, tsw_complex_float, at_or_null_c(alpha), layout(rows=size(a, 1, c_size_t), &
                cols=size(a, 2, c_size_t), count=size(a, 3, c_size_t)), nthreads)
        else
            status = run_imatcopy(op, tsw_complex_float, at_or_null_c(alpha), batch(layout_c(a(:, :, 1)), &
                size(a, 3, c_size_t), c_loc(a(1, 1, min(2_c_size_t, size(a, 3, c_size_t))))), nthreads)
        end if
    end function

    ! An alpha that is not given is 1.
    function at_or_null_c(alpha) result(at)
        complex(c_float_complex), intent(in), optional, target :: alpha
        type(c_ptr) :: at

        at = c_null_ptr
        if (present(alpha)) at = c_loc(alpha)
    end function

    function imatcopy_z2(a, op, alpha, nthreads) result(status)
        complex(c_double_complex), intent(inout), target :: a(:, :)
        character(kind=c_char), intent(in) :: op
        complex(c_double_complex), intent(in), optional, target :: alpha
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        status = run_imatcopy(op, tsw_complex_double, at_or_null_z(alpha), layout_z(a), nthreads)
    end function

    function imatcopy_z3(a, op, alpha, nthreads) result(status)
        complex(c_double_complex), intent(inout), target :: a(:, :, :)
        character(kind=c_char), intent(in) :: op
        complex(c_double_complex), intent(in), optional, target :: alpha
        integer(c_int), intent(in), optional :: nthreads
        integer(c_int) :: status

        if (size(a, kind=c_size_t) == 0) then
            status = run_imatcopy(op, tsw_complex_double, at_or_null_z(alpha), layout(rows=size(a, 1, c_size_t), &
                cols=size(a, 2, c_size_t), count=size(a, 3, c_size_t)), nthreads)
        else
            status = run_imatcopy(op, tsw_complex_double, at_or_null_z(alpha), batch(layout_z(a(:, :, 1)), &
                size(a, 3, c_size_t), c_loc(a(1, 1, min(2_c_size_t, size(a, 3, c_size_t))))), nthreads)
        end if
    end function

    ! An alpha that is not given is 1.
    function at_or_null_z(alpha) result(at)
        complex(c_double_complex), intent(in), optional, target :: alpha
        type(c_ptr) :: at

        at = c_null_ptr
        if (present(alpha)) at = c_loc(alpha)
    end function

end module tileswap
