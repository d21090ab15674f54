! Coarrays: a ring of images that exchange borders one-sidedly, count under a lock, and meet in pairs and all together
program rod
  use iso_fortran_env, only: atomic_int_kind, lock_type
  implicit none
  integer, parameter :: n = 64
  real(8), allocatable :: u(:)[:], new(:)
  type(lock_type) :: gate[*]
  integer :: counter[*], step, i, me, all, left, right, mine
  integer(atomic_int_kind) :: tickets[*]
  real(8) :: total
  me = this_image()
  all = num_images()
  left = merge(all, me - 1, me == 1)
  right = merge(1, me + 1, me == all)
  allocate (u(0:n + 1)[*], new(n))
  u = 0
  u(1:n) = [(sin(0.1d0*(i + (me - 1)*n)), i=1, n)]
  counter = 0
  call atomic_define(tickets, 0)
  sync all
  do step = 1, 90
    u(n + 1)[left] = u(1)
    u(0)[right] = u(n)
    if (all > 2) then
      sync images([left, right])
    else ! one neighbour, who must not be named twice
      sync all
    end if
    new = u(1:n) + 0.2d0*(u(0:n - 1) - 2*u(1:n) + u(2:n + 1))
    lock (gate[1])
    mine = counter[1]
    counter[1] = mine + me
    unlock (gate[1])
    call atomic_add(tickets[1], step)
    sync all
    u(1:n) = new
    total = sum(u(1:n))
    call co_sum(total)
    if (me == 1 .and. mod(step, 9) == 0) then
      print '(i5, es24.16, i9, i9)', step, total, counter, tickets
      flush (6)
    end if
    sync all
  end do
end program
