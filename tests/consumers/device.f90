! A device pointer in a c_ptr: real(4), real(8) and complex(8) matrices go to the GPU, are transposed and
! scaled there by the calls of the module, and come back.  Linked with the CUDA runtime.
program device
    use, intrinsic :: iso_c_binding
    use tileswap
    implicit none

    interface
        function cuda_malloc(pointer, bytes) bind(c, name="cudaMalloc") result(error)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), intent(out) :: pointer
            integer(c_size_t), value :: bytes
            integer(c_int) :: error
        end function

        function cuda_memcpy(to, from, bytes, direction) bind(c, name="cudaMemcpy") result(error)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value :: to, from
            integer(c_size_t), value :: bytes
            integer(c_int), value :: direction
            integer(c_int) :: error
        end function

        function cuda_free(pointer) bind(c, name="cudaFree") result(error)
            import :: c_int, c_ptr
            type(c_ptr), value :: pointer
            integer(c_int) :: error
        end function
    end interface

    integer(c_int), parameter :: to_device = 1, to_host = 2
    integer(c_size_t), parameter :: n = 1000, ld = 1003
    real(4), target :: s(ld, n), half_s(ld, n)
    real(8), target :: d(ld, n)
    complex(8), target :: z(ld, n)
    real(4), target :: half = 0.5
    integer :: r, c

    s = reshape([((real(r + 1003 * c, 4), r=1, 1003), c=1, 1000)], shape(s))
    d = real(s, 8) + 0.25d0
    z = cmplx(d, -d, 8)
    half_s = s

    call through(c_loc(s), 4_c_size_t, .false.)
    call expect(all(s(1:n, :) == transpose(half_s(1:n, :))) .and. all(s(n + 1:, :) == half_s(n + 1:, :)), 'real4')
    call through(c_loc(d), 8_c_size_t, .false.)
    call expect(all(d(1:n, :) == real(s(1:n, :), 8) + 0.25d0), 'real8')
    call through(c_loc(z), 16_c_size_t, .false.)
    call expect(all(z(1:n, :) == cmplx(d(1:n, :), -d(1:n, :), 8)), 'complex8')
    call through(c_loc(s), 4_c_size_t, .true.)
    call expect(all(s(1:n, :) == 0.5 * half_s(1:n, :)), 'imatcopy real4')

contains

    subroutine expect(condition, what)
        logical, intent(in) :: condition
        character(len=*), intent(in) :: what

        if (condition) return
        print '(4a)', 'device.f90: ', what, ': ', tsw_last_error()
        error stop 1
    end subroutine

    ! The matrix at `host`, on the device and back; `scaled`: and halved, by imatcopy.
    subroutine through(host, elem_size, scaled)
        type(c_ptr), intent(in) :: host
        integer(c_size_t), intent(in) :: elem_size
        logical, intent(in) :: scaled
        type(c_ptr) :: there

        call expect(cuda_malloc(there, ld * n * elem_size) == 0, 'cudaMalloc')
        call expect(cuda_memcpy(there, host, ld * n * elem_size, to_device) == 0, 'cudaMemcpy')
        if (scaled) then
            call expect(tsw_imatcopy_device('T', tsw_float, n, c_loc(half), there, ld, c_null_ptr) == tsw_ok, &
                'tsw_imatcopy_device')
        else
            call expect(tsw_transpose_device(there, n, ld, elem_size, c_null_ptr) == tsw_ok, 'tsw_transpose_device')
        end if
        call expect(cuda_memcpy(host, there, ld * n * elem_size, to_host) == 0, 'cudaMemcpy')
        ! Looks where it lies.
        call expect(tsw_transpose(there, n, ld, elem_size) == tsw_ok, 'tsw_transpose of a c_ptr')
        call expect(cuda_free(there) == 0, 'cudaFree')
    end subroutine
end program device
