! The Fortran module: generic calls on arrays and sections of the four kinds, and the C calls on
! pointers.
program consumer
    use, intrinsic :: iso_c_binding
    use tileswap
    implicit none

    integer, parameter :: n = 37, ld = 41, count = 3
    logical :: wrong = .false.

    call real4()
    call real8()
    call complex4()
    call complex8()
    call imatcopies()
    call refusals()
    call pointers()
    call files()
    if (wrong) error stop 1

contains

    subroutine expect(condition, what)
        logical, intent(in) :: condition
        character(len=*), intent(in) :: what
        if (.not. condition) then
            print '(2a)', 'consumer.f90: ', what
            wrong = .true.
        end if
    end subroutine

    ! Where element (r, c) of matrix k comes from, as one number; exact in every kind.
    pure elemental integer function code(r, c, k)
        integer, intent(in) :: r, c, k
        code = r + ld * (c + ld * k)
    end function

    ! What must stand at (r, c) of an ld x ld array whose window (3:n+2, 2:n+1) was transposed.
    pure elemental integer function windowed(r, c)
        integer, intent(in) :: r, c
        if (r >= 3 .and. r <= n + 2 .and. c >= 2 .and. c <= n + 1) then
            windowed = code(c + 1, r - 1, 0)
        else
            windowed = code(r, c, 0)
        end if
    end function

    subroutine real8()
        real(8), allocatable :: a(:, :), b(:, :, :)
        type(tsw_digest) :: before, after
        integer :: r, c, k

        allocate (a(ld, ld), b(ld, n, count))
        a = reshape([((real(code(r, c, 0), 8), r=1, ld), c=1, ld)], shape(a))
        call expect(tsw_checksum(a(3:n + 2, 2:n + 1), before) == tsw_ok, 'checksum')
        call expect(tsw_transpose(a(3:n + 2, 2:n + 1), nthreads=2_c_int) == tsw_ok, 'real8 section')
        call expect(all(a == reshape([((real(windowed(r, c), 8), r=1, ld), c=1, ld)], shape(a))), &
            'real8 section values')
        call expect(tsw_checksum(a(3:n + 2, 2:n + 1), after, transposed=.true.) == tsw_ok, 'checksum')
        call expect(before%placed == after%placed .and. before%values == after%values, 'digests')

        ! The digest by Fortran's own rows and columns: C sees the transpose.
        call expect(tsw_checksum_host(c_loc_of(a(3, 2)), int(n, c_size_t), int(ld, c_size_t), 8_c_size_t, &
            0_c_int, before, 0_c_int) == tsw_ok, 'tsw_checksum_host')
        call expect(before%placed == after%placed, 'rows are Fortran rows')

        b = reshape([(((real(code(r, c, k), 8), r=1, ld), c=1, n), k=1, count)], shape(b))
        call expect(tsw_transpose(b(1:n, :, :)) == tsw_ok, 'real8 batch')
        do k = 1, count
            do c = 1, n
                do r = 1, ld
                    call expect(b(r, c, k) == merge(code(c, r, k), code(r, c, k), r <= n), 'real8 batch values')
                end do
            end do
        end do
    end subroutine

    function c_loc_of(x) result(p)
        real(8), intent(in), target :: x
        type(c_ptr) :: p
        p = c_loc(x)
    end function

    subroutine real4()
        real(4) :: a(n, n)
        integer :: r, c

        a = reshape([((real(code(r, c, 0), 4), r=1, n), c=1, n)], shape(a))
        call expect(tsw_transpose(a) == tsw_ok, 'real4')
        call expect(all(a == reshape([((real(code(c, r, 0), 4), r=1, n), c=1, n)], shape(a))), 'real4 values')
    end subroutine

    subroutine complex4()
        complex(4) :: a(n, n)
        integer :: r, c

        a = reshape([((cmplx(code(r, c, 0), -r, 4), r=1, n), c=1, n)], shape(a))
        call expect(tsw_transpose(a) == tsw_ok, 'complex4')
        call expect(all(a == reshape([((cmplx(code(c, r, 0), -c, 4), r=1, n), c=1, n)], shape(a))), &
            'complex4 values')
    end subroutine

    subroutine complex8()
        complex(8) :: a(n, n)
        integer :: r, c

        a = reshape([((cmplx(code(r, c, 0), -r, 8), r=1, n), c=1, n)], shape(a))
        call expect(tsw_transpose(a) == tsw_ok, 'complex8')
        call expect(all(a == reshape([((cmplx(code(c, r, 0), -c, 8), r=1, n), c=1, n)], shape(a))), &
            'complex8 values')
    end subroutine

    subroutine imatcopies()
        real(4) :: s(n, n)
        real(8) :: d(ld, ld)
        complex(4) :: c4(n, n)
        complex(8), allocatable :: z(:, :, :)
        complex(8), parameter :: i = (0d0, 1d0)
        integer(c_int16_t), target :: h(2, 2)
        real(c_float), target :: half
        integer :: r, c, k

        s = reshape([((real(code(r, c, 0), 4), r=1, n), c=1, n)], shape(s))
        call expect(tsw_imatcopy(s, 'T', 2.0) == tsw_ok, 'imatcopy real4')
        call expect(all(s == reshape([((2 * real(code(c, r, 0), 4), r=1, n), c=1, n)], shape(s))), &
            'imatcopy real4 values')

        d = reshape([((real(code(r, c, 0), 8), r=1, ld), c=1, ld)], shape(d))
        call expect(tsw_imatcopy(d(3:n + 2, 2:n + 1), 't', nthreads=2_c_int) == tsw_ok, 'imatcopy section')
        call expect(all(d == reshape([((real(windowed(r, c), 8), r=1, ld), c=1, ld)], shape(d))), &
            'imatcopy section values')

        c4 = reshape([((cmplx(code(r, c, 0), -r, 4), r=1, n), c=1, n)], shape(c4))
        call expect(tsw_imatcopy(c4, 'R') == tsw_ok, 'imatcopy complex4')
        call expect(all(c4 == reshape([((cmplx(code(r, c, 0), r, 4), r=1, n), c=1, n)], shape(c4))), &
            'imatcopy complex4 values')

        allocate (z(n, n, count))
        z = reshape([(((cmplx(code(r, c, k), r, 8), r=1, n), c=1, n), k=1, count)], shape(z))
        call expect(tsw_imatcopy(z, 'C', i) == tsw_ok, 'imatcopy complex8 batch')
        call expect(all(z == reshape([(((i * cmplx(code(c, r, k), -c, 8), r=1, n), c=1, n), k=1, count)], &
            shape(z))), 'imatcopy complex8 batch values')

        h = reshape([int(z'3c00', c_int16_t), int(z'4000', c_int16_t), int(z'4200', c_int16_t), &
            int(z'4400', c_int16_t)], shape(h)) ! the bits of 1, 2, 3, 4
        half = 0.5
        call expect(tsw_imatcopy_host('T', tsw_half, 2_c_size_t, c_loc(half), c_loc(h), 2_c_size_t, 0_c_int) &
            == tsw_ok, 'imatcopy half')
        call expect(all(h == reshape([int(z'3800', c_int16_t), int(z'3e00', c_int16_t), &
            int(z'3c00', c_int16_t), int(z'4000', c_int16_t)], shape(h))), 'imatcopy half values')
        call expect(tsw_imatcopy(s, 'x') == tsw_err_op, 'imatcopy op')
        call expect(tsw_imatcopy(s(1:3, :), 'N') == tsw_err_ld, 'imatcopy not square')
        call expect(tsw_imatcopy_host('T', 9_c_int, 2_c_size_t, c_null_ptr, c_null_ptr, 2_c_size_t, 0_c_int) &
            == tsw_err_type, 'imatcopy type')
    end subroutine

    subroutine refusals()
        real(8) :: a(8, 8), b(8, 8, 2)
        real(8), allocatable :: none(:, :, :)
        integer :: i

        a = reshape([(real(i, 8), i=1, 64)], shape(a))
        call expect(tsw_transpose(a(1:3, :)) == tsw_err_ld, 'not square')
        call expect(tsw_last_error() == 'a is 3 x 8, not square', 'detail of the shape')
        call expect(tsw_transpose(a(1:8:2, 1:4)) == tsw_err_stride, 'columns with gaps')
        call expect(tsw_last_error() == 'the elements of a column of a lie 16 bytes apart, not 8', &
            'detail of the gaps')
        call expect(tsw_transpose(a(8:1:-1, :)) == tsw_err_stride, 'rows backwards')
        call expect(tsw_transpose(a(:, 8:1:-1)) == tsw_err_stride, 'columns backwards')
        call expect(tsw_last_error() == &
            'the columns of a lie -64 bytes apart, not a positive multiple of 8', 'detail of the columns')
        call expect(tsw_transpose(b(:, :, 2:1:-1)) == tsw_err_stride, 'matrices backwards')
        call expect(tsw_last_error() == &
            'the matrices of a lie -512 bytes apart, not a positive multiple of 8', 'detail of the batch')
        call expect(tsw_transpose(a(1:0, 1:0)) == tsw_ok, 'an empty matrix')
        call expect(tsw_last_error() == '', 'an empty detail')
        call expect(tsw_transpose(a, nthreads=-1_c_int) == tsw_err_threads, 'threads')
        call expect(tsw_last_error() == 'nthreads = -1 is negative', 'detail')
        call expect(len(tsw_strerror(tsw_err_threads)) > 0, 'tsw_strerror')
        call expect(all(a == reshape([(real(i, 8), i=1, 64)], shape(a))), 'refused, not touched')
        call expect(tsw_transpose(a(1:4, 1:8:2)) == tsw_ok, 'every other column')
        call expect(a(2, 1) == 17 .and. a(1, 3) == 2 .and. a(1, 2) == 9, 'every other column, values')
        b = 0
        call expect(tsw_transpose(b(:, :, 2:1:-1)) == tsw_err_stride, 'matrices backwards')
        call expect(tsw_transpose(b(:, :, 2:1)) == tsw_ok, 'no matrix')
        allocate (none(0, 0, 3))
        call expect(tsw_transpose(none) == tsw_ok, 'empty matrices')
    end subroutine

    subroutine pointers()
        integer(c_int32_t), target :: a(n, n), b(n, n)
        type(c_ptr) :: each(2)
        integer(c_size_t) :: m
        integer :: r, c

        m = n
        a = reshape([((code(r, c, 0), r=1, n), c=1, n)], shape(a))
        b = a
        call expect(tsw_transpose(c_loc(a), m, m, 4_c_size_t) == tsw_ok, 'c_ptr')
        call expect(all(a == transpose(b)), 'c_ptr values')
        each = [c_loc(a), c_loc(b)]
        call expect(tsw_transpose_array_host(each, m, m, 4_c_size_t, 2_c_size_t, 0_c_int) == tsw_ok, 'array')
        call expect(all(a == transpose(b)) .and. a(2, 1) == code(2, 1, 0), 'array values')
        call expect(tsw_transpose_batch_host(c_loc(a), m, m, 4_c_size_t, m * m, 1_c_size_t, 1_c_int) == tsw_ok, &
            'batch')
        call expect(all(a == b), 'batch values')
        if (tsw_cuda_status() /= tsw_ok) then
            call expect(tsw_transpose_device(c_loc(a), m, m, 4_c_size_t, c_null_ptr) == tsw_cuda_status(), 'device')
            call expect(all(a == b), 'no device, not touched')
        end if
        call expect(tsw_version() /= '', 'version')
    end subroutine

    subroutine files()
        real(8) :: a(n, n), b(n, n)
        type(tsw_file_options) :: options
        type(tsw_file_result) :: found
        character(len=256) :: directory
        character(len=:), allocatable :: path
        integer :: r, c, unit

        call get_environment_variable('TMPDIR', directory)
        if (directory == '') directory = '/tmp'
        path = trim(directory)//'/tileswap-consumer-f90.bin'
        a = reshape([((real(code(r, c, 0), 8), r=1, n), c=1, n)], shape(a))
        open (newunit=unit, file=path, access='stream', status='replace', action='write')
        write (unit) a
        close (unit)
        options%n = n
        options%elem_size = 8
        options%verify = 1
        call expect(tsw_transpose_file(path, options, found) == tsw_ok, 'file: '//tsw_last_error())
        call expect(found%n == n .and. found%format == tsw_format_raw .and. found%resumed_from_pair == -1, &
            'what was found')
        call expect(found%before%placed == found%after%placed .and. found%before%placed /= 0, 'file digests')
        open (newunit=unit, file=path, access='stream', status='old', action='read')
        read (unit) b
        close (unit)
        call expect(all(b == transpose(a)), 'file values')
        call expect(tsw_transpose_file(path, options, out_path=path//'.t   ') == tsw_ok, 'out_path')
        open (newunit=unit, file=path//'.t', access='stream', status='old', action='read')
        read (unit) b
        close (unit, status='delete')
        call expect(all(b == a), 'out_path values')
        call expect(tsw_transpose_file(path//c_null_char//'x', options) == tsw_err_option, 'a zero byte in path')
        call expect(tsw_last_error() == 'path holds a zero byte', 'detail of the zero byte')
        call expect(tsw_transpose_file(path, options, out_path=path//'.t'//c_null_char//'x') == tsw_err_option, &
            'a zero byte in out_path')
        call expect(tsw_transpose_file(path//c_null_char, options) == tsw_ok, 'a zero byte behind path')
        open (newunit=unit, file=path, status='old')
        close (unit, status='delete')
        call expect(tsw_transpose_file(path) == tsw_err_io, 'no such file')
    end subroutine
end program consumer
