/* mpi_names.h - MPI functions that must exist, implemented or not: see missing.c.
 * Open MPI 5.0 (C name, Fortran name), and what MPICH 4.2 and its Fortran library add. */
#define MPI_NAMES(X)                                              \
    X(AINT_ADD_F90, aint_add_f90)                                 \
    X(AINT_DIFF_F90, aint_diff_f90)                               \
    X(Abort, abort)                                               \
    X(Accumulate, accumulate)                                     \
    X(Add_error_class, add_error_class)                           \
    X(Add_error_code, add_error_code)                             \
    X(Add_error_string, add_error_string)                         \
    X(Address, address)                                           \
    X(Allgather, allgather)                                       \
    X(Allgather_init, allgather_init)                             \
    X(Allgatherv, allgatherv)                                     \
    X(Allgatherv_init, allgatherv_init)                           \
    X(Alloc_mem, alloc_mem)                                       \
    X(Allreduce, allreduce)                                       \
    X(Allreduce_init, allreduce_init)                             \
    X(Alltoall, alltoall)                                         \
    X(Alltoall_init, alltoall_init)                               \
    X(Alltoallv, alltoallv)                                       \
    X(Alltoallv_init, alltoallv_init)                             \
    X(Alltoallw, alltoallw)                                       \
    X(Alltoallw_init, alltoallw_init)                             \
    X(Attr_delete, attr_delete)                                   \
    X(Attr_get, attr_get)                                         \
    X(Attr_put, attr_put)                                         \
    X(Barrier, barrier)                                           \
    X(Barrier_init, barrier_init)                                 \
    X(Bcast, bcast)                                               \
    X(Bcast_init, bcast_init)                                     \
    X(Bsend, bsend)                                               \
    X(Bsend_init, bsend_init)                                     \
    X(Buffer_attach, buffer_attach)                               \
    X(Buffer_detach, buffer_detach)                               \
    X(COMM_DUP_FN, comm_dup_fn)                                   \
    X(COMM_NULL_COPY_FN, comm_null_copy_fn)                       \
    X(COMM_NULL_DELETE_FN, comm_null_delete_fn)                   \
    X(CONVERSION_FN_NULL, conversion_fn_null)                     \
    X(Cancel, cancel)                                             \
    X(Cart_coords, cart_coords)                                   \
    X(Cart_create, cart_create)                                   \
    X(Cart_get, cart_get)                                         \
    X(Cart_map, cart_map)                                         \
    X(Cart_rank, cart_rank)                                       \
    X(Cart_shift, cart_shift)                                     \
    X(Cart_sub, cart_sub)                                         \
    X(Cartdim_get, cartdim_get)                                   \
    X(Close_port, close_port)                                     \
    X(Comm_accept, comm_accept)                                   \
    X(Comm_c2f, comm_c2f)                                         \
    X(Comm_call_errhandler, comm_call_errhandler)                 \
    X(Comm_compare, comm_compare)                                 \
    X(Comm_connect, comm_connect)                                 \
    X(Comm_create, comm_create)                                   \
    X(Comm_create_errhandler, comm_create_errhandler)             \
    X(Comm_create_from_group, comm_create_from_group)             \
    X(Comm_create_group, comm_create_group)                       \
    X(Comm_create_keyval, comm_create_keyval)                     \
    X(Comm_delete_attr, comm_delete_attr)                         \
    X(Comm_disconnect, comm_disconnect)                           \
    X(Comm_dup, comm_dup)                                         \
    X(Comm_dup_with_info, comm_dup_with_info)                     \
    X(Comm_f2c, comm_f2c)                                         \
    X(Comm_free, comm_free)                                       \
    X(Comm_free_keyval, comm_free_keyval)                         \
    X(Comm_get_attr, comm_get_attr)                               \
    X(Comm_get_errhandler, comm_get_errhandler)                   \
    X(Comm_get_info, comm_get_info)                               \
    X(Comm_get_name, comm_get_name)                               \
    X(Comm_get_parent, comm_get_parent)                           \
    X(Comm_group, comm_group)                                     \
    X(Comm_idup, comm_idup)                                       \
    X(Comm_idup_with_info, comm_idup_with_info)                   \
    X(Comm_join, comm_join)                                       \
    X(Comm_rank, comm_rank)                                       \
    X(Comm_remote_group, comm_remote_group)                       \
    X(Comm_remote_size, comm_remote_size)                         \
    X(Comm_set_attr, comm_set_attr)                               \
    X(Comm_set_errhandler, comm_set_errhandler)                   \
    X(Comm_set_info, comm_set_info)                               \
    X(Comm_set_name, comm_set_name)                               \
    X(Comm_size, comm_size)                                       \
    X(Comm_spawn, comm_spawn)                                     \
    X(Comm_spawn_multiple, comm_spawn_multiple)                   \
    X(Comm_split, comm_split)                                     \
    X(Comm_split_type, comm_split_type)                           \
    X(Comm_test_inter, comm_test_inter)                           \
    X(Compare_and_swap, compare_and_swap)                         \
    X(DUP_FN, dup_fn)                                             \
    X(Dims_create, dims_create)                                   \
    X(Dist_graph_create, dist_graph_create)                       \
    X(Dist_graph_create_adjacent, dist_graph_create_adjacent)     \
    X(Dist_graph_neighbors, dist_graph_neighbors)                 \
    X(Dist_graph_neighbors_count, dist_graph_neighbors_count)     \
    X(Errhandler_c2f, errhandler_c2f)                             \
    X(Errhandler_create, errhandler_create)                       \
    X(Errhandler_f2c, errhandler_f2c)                             \
    X(Errhandler_free, errhandler_free)                           \
    X(Errhandler_get, errhandler_get)                             \
    X(Errhandler_set, errhandler_set)                             \
    X(Error_class, error_class)                                   \
    X(Error_string, error_string)                                 \
    X(Exscan, exscan)                                             \
    X(Exscan_init, exscan_init)                                   \
    X(Fetch_and_op, fetch_and_op)                                 \
    X(File_c2f, file_c2f)                                         \
    X(File_call_errhandler, file_call_errhandler)                 \
    X(File_close, file_close)                                     \
    X(File_create_errhandler, file_create_errhandler)             \
    X(File_delete, file_delete)                                   \
    X(File_f2c, file_f2c)                                         \
    X(File_get_amode, file_get_amode)                             \
    X(File_get_atomicity, file_get_atomicity)                     \
    X(File_get_byte_offset, file_get_byte_offset)                 \
    X(File_get_errhandler, file_get_errhandler)                   \
    X(File_get_group, file_get_group)                             \
    X(File_get_info, file_get_info)                               \
    X(File_get_position, file_get_position)                       \
    X(File_get_position_shared, file_get_position_shared)         \
    X(File_get_size, file_get_size)                               \
    X(File_get_type_extent, file_get_type_extent)                 \
    X(File_get_view, file_get_view)                               \
    X(File_iread, file_iread)                                     \
    X(File_iread_all, file_iread_all)                             \
    X(File_iread_at, file_iread_at)                               \
    X(File_iread_at_all, file_iread_at_all)                       \
    X(File_iread_shared, file_iread_shared)                       \
    X(File_iwrite, file_iwrite)                                   \
    X(File_iwrite_all, file_iwrite_all)                           \
    X(File_iwrite_at, file_iwrite_at)                             \
    X(File_iwrite_at_all, file_iwrite_at_all)                     \
    X(File_iwrite_shared, file_iwrite_shared)                     \
    X(File_open, file_open)                                       \
    X(File_preallocate, file_preallocate)                         \
    X(File_read, file_read)                                       \
    X(File_read_all, file_read_all)                               \
    X(File_read_all_begin, file_read_all_begin)                   \
    X(File_read_all_end, file_read_all_end)                       \
    X(File_read_at, file_read_at)                                 \
    X(File_read_at_all, file_read_at_all)                         \
    X(File_read_at_all_begin, file_read_at_all_begin)             \
    X(File_read_at_all_end, file_read_at_all_end)                 \
    X(File_read_ordered, file_read_ordered)                       \
    X(File_read_ordered_begin, file_read_ordered_begin)           \
    X(File_read_ordered_end, file_read_ordered_end)               \
    X(File_read_shared, file_read_shared)                         \
    X(File_seek, file_seek)                                       \
    X(File_seek_shared, file_seek_shared)                         \
    X(File_set_atomicity, file_set_atomicity)                     \
    X(File_set_errhandler, file_set_errhandler)                   \
    X(File_set_info, file_set_info)                               \
    X(File_set_size, file_set_size)                               \
    X(File_set_view, file_set_view)                               \
    X(File_sync, file_sync)                                       \
    X(File_write, file_write)                                     \
    X(File_write_all, file_write_all)                             \
    X(File_write_all_begin, file_write_all_begin)                 \
    X(File_write_all_end, file_write_all_end)                     \
    X(File_write_at, file_write_at)                               \
    X(File_write_at_all, file_write_at_all)                       \
    X(File_write_at_all_begin, file_write_at_all_begin)           \
    X(File_write_at_all_end, file_write_at_all_end)               \
    X(File_write_ordered, file_write_ordered)                     \
    X(File_write_ordered_begin, file_write_ordered_begin)         \
    X(File_write_ordered_end, file_write_ordered_end)             \
    X(File_write_shared, file_write_shared)                       \
    X(Finalize, finalize)                                         \
    X(Finalized, finalized)                                       \
    X(Free_mem, free_mem)                                         \
    X(Gather, gather)                                             \
    X(Gather_init, gather_init)                                   \
    X(Gatherv, gatherv)                                           \
    X(Gatherv_init, gatherv_init)                                 \
    X(Get, get)                                                   \
    X(Get_accumulate, get_accumulate)                             \
    X(Get_address, get_address)                                   \
    X(Get_count, get_count)                                       \
    X(Get_elements, get_elements)                                 \
    X(Get_elements_x, get_elements_x)                             \
    X(Get_library_version, get_library_version)                   \
    X(Get_processor_name, get_processor_name)                     \
    X(Get_version, get_version)                                   \
    X(Graph_create, graph_create)                                 \
    X(Graph_get, graph_get)                                       \
    X(Graph_map, graph_map)                                       \
    X(Graph_neighbors, graph_neighbors)                           \
    X(Graph_neighbors_count, graph_neighbors_count)               \
    X(Graphdims_get, graphdims_get)                               \
    X(Grequest_complete, grequest_complete)                       \
    X(Grequest_start, grequest_start)                             \
    X(Group_c2f, group_c2f)                                       \
    X(Group_compare, group_compare)                               \
    X(Group_difference, group_difference)                         \
    X(Group_excl, group_excl)                                     \
    X(Group_f2c, group_f2c)                                       \
    X(Group_free, group_free)                                     \
    X(Group_from_session_pset, group_from_session_pset)           \
    X(Group_incl, group_incl)                                     \
    X(Group_intersection, group_intersection)                     \
    X(Group_range_excl, group_range_excl)                         \
    X(Group_range_incl, group_range_incl)                         \
    X(Group_rank, group_rank)                                     \
    X(Group_size, group_size)                                     \
    X(Group_translate_ranks, group_translate_ranks)               \
    X(Group_union, group_union)                                   \
    X(Iallgather, iallgather)                                     \
    X(Iallgatherv, iallgatherv)                                   \
    X(Iallreduce, iallreduce)                                     \
    X(Ialltoall, ialltoall)                                       \
    X(Ialltoallv, ialltoallv)                                     \
    X(Ialltoallw, ialltoallw)                                     \
    X(Ibarrier, ibarrier)                                         \
    X(Ibcast, ibcast)                                             \
    X(Ibsend, ibsend)                                             \
    X(Iexscan, iexscan)                                           \
    X(Igather, igather)                                           \
    X(Igatherv, igatherv)                                         \
    X(Improbe, improbe)                                           \
    X(Imrecv, imrecv)                                             \
    X(Ineighbor_allgather, ineighbor_allgather)                   \
    X(Ineighbor_allgatherv, ineighbor_allgatherv)                 \
    X(Ineighbor_alltoall, ineighbor_alltoall)                     \
    X(Ineighbor_alltoallv, ineighbor_alltoallv)                   \
    X(Ineighbor_alltoallw, ineighbor_alltoallw)                   \
    X(Info_c2f, info_c2f)                                         \
    X(Info_create, info_create)                                   \
    X(Info_create_env, info_create_env)                           \
    X(Info_delete, info_delete)                                   \
    X(Info_dup, info_dup)                                         \
    X(Info_f2c, info_f2c)                                         \
    X(Info_free, info_free)                                       \
    X(Info_get, info_get)                                         \
    X(Info_get_nkeys, info_get_nkeys)                             \
    X(Info_get_nthkey, info_get_nthkey)                           \
    X(Info_get_string, info_get_string)                           \
    X(Info_get_valuelen, info_get_valuelen)                       \
    X(Info_set, info_set)                                         \
    X(Init, init)                                                 \
    X(Init_thread, init_thread)                                   \
    X(Initialized, initialized)                                   \
    X(Intercomm_create, intercomm_create)                         \
    X(Intercomm_create_from_groups, intercomm_create_from_groups) \
    X(Intercomm_merge, intercomm_merge)                           \
    X(Iprobe, iprobe)                                             \
    X(Irecv, irecv)                                               \
    X(Ireduce, ireduce)                                           \
    X(Ireduce_scatter, ireduce_scatter)                           \
    X(Ireduce_scatter_block, ireduce_scatter_block)               \
    X(Irsend, irsend)                                             \
    X(Is_thread_main, is_thread_main)                             \
    X(Iscan, iscan)                                               \
    X(Iscatter, iscatter)                                         \
    X(Iscatterv, iscatterv)                                       \
    X(Isend, isend)                                               \
    X(Isendrecv, isendrecv)                                       \
    X(Isendrecv_replace, isendrecv_replace)                       \
    X(Issend, issend)                                             \
    X(Keyval_create, keyval_create)                               \
    X(Keyval_free, keyval_free)                                   \
    X(Lookup_name, lookup_name)                                   \
    X(Message_c2f, message_c2f)                                   \
    X(Message_f2c, message_f2c)                                   \
    X(Mprobe, mprobe)                                             \
    X(Mrecv, mrecv)                                               \
    X(NULL_COPY_FN, null_copy_fn)                                 \
    X(NULL_DELETE_FN, null_delete_fn)                             \
    X(Neighbor_allgather, neighbor_allgather)                     \
    X(Neighbor_allgather_init, neighbor_allgather_init)           \
    X(Neighbor_allgatherv, neighbor_allgatherv)                   \
    X(Neighbor_allgatherv_init, neighbor_allgatherv_init)         \
    X(Neighbor_alltoall, neighbor_alltoall)                       \
    X(Neighbor_alltoall_init, neighbor_alltoall_init)             \
    X(Neighbor_alltoallv, neighbor_alltoallv)                     \
    X(Neighbor_alltoallv_init, neighbor_alltoallv_init)           \
    X(Neighbor_alltoallw, neighbor_alltoallw)                     \
    X(Neighbor_alltoallw_init, neighbor_alltoallw_init)           \
    X(Op_c2f, op_c2f)                                             \
    X(Op_commutative, op_commutative)                             \
    X(Op_create, op_create)                                       \
    X(Op_f2c, op_f2c)                                             \
    X(Op_free, op_free)                                           \
    X(Open_port, open_port)                                       \
    X(Pack, pack)                                                 \
    X(Pack_external, pack_external)                               \
    X(Pack_external_size, pack_external_size)                     \
    X(Pack_size, pack_size)                                       \
    X(Parrived, parrived)                                         \
    X(Pcontrol, pcontrol)                                         \
    X(Pready, pready)                                             \
    X(Pready_list, pready_list)                                   \
    X(Pready_range, pready_range)                                 \
    X(Precv_init, precv_init)                                     \
    X(Probe, probe)                                               \
    X(Psend_init, psend_init)                                     \
    X(Publish_name, publish_name)                                 \
    X(Put, put)                                                   \
    X(Query_thread, query_thread)                                 \
    X(Raccumulate, raccumulate)                                   \
    X(Recv, recv)                                                 \
    X(Recv_init, recv_init)                                       \
    X(Reduce, reduce)                                             \
    X(Reduce_init, reduce_init)                                   \
    X(Reduce_local, reduce_local)                                 \
    X(Reduce_scatter, reduce_scatter)                             \
    X(Reduce_scatter_block, reduce_scatter_block)                 \
    X(Reduce_scatter_block_init, reduce_scatter_block_init)       \
    X(Reduce_scatter_init, reduce_scatter_init)                   \
    X(Register_datarep, register_datarep)                         \
    X(Request_c2f, request_c2f)                                   \
    X(Request_f2c, request_f2c)                                   \
    X(Request_free, request_free)                                 \
    X(Request_get_status, request_get_status)                     \
    X(Rget, rget)                                                 \
    X(Rget_accumulate, rget_accumulate)                           \
    X(Rput, rput)                                                 \
    X(Rsend, rsend)                                               \
    X(Rsend_init, rsend_init)                                     \
    X(Scan, scan)                                                 \
    X(Scan_init, scan_init)                                       \
    X(Scatter, scatter)                                           \
    X(Scatter_init, scatter_init)                                 \
    X(Scatterv, scatterv)                                         \
    X(Scatterv_init, scatterv_init)                               \
    X(Send, send)                                                 \
    X(Send_init, send_init)                                       \
    X(Sendrecv, sendrecv)                                         \
    X(Sendrecv_replace, sendrecv_replace)                         \
    X(Session_c2f, session_c2f)                                   \
    X(Session_call_errhandler, session_call_errhandler)           \
    X(Session_create_errhandler, session_create_errhandler)       \
    X(Session_f2c, session_f2c)                                   \
    X(Session_finalize, session_finalize)                         \
    X(Session_get_errhandler, session_get_errhandler)             \
    X(Session_get_info, session_get_info)                         \
    X(Session_get_nth_pset, session_get_nth_pset)                 \
    X(Session_get_num_psets, session_get_num_psets)               \
    X(Session_get_pset_info, session_get_pset_info)               \
    X(Session_init, session_init)                                 \
    X(Session_set_errhandler, session_set_errhandler)             \
    X(Session_set_info, session_set_info)                         \
    X(Ssend, ssend)                                               \
    X(Ssend_init, ssend_init)                                     \
    X(Start, start)                                               \
    X(Startall, startall)                                         \
    X(Status_c2f, status_c2f)                                     \
    X(Status_c2f08, status_c2f08)                                 \
    X(Status_f082c, status_f082c)                                 \
    X(Status_f082f, status_f082f)                                 \
    X(Status_f2c, status_f2c)                                     \
    X(Status_f2f08, status_f2f08)                                 \
    X(Status_set_cancelled, status_set_cancelled)                 \
    X(Status_set_elements, status_set_elements)                   \
    X(Status_set_elements_x, status_set_elements_x)               \
    X(TYPE_DUP_FN, type_dup_fn)                                   \
    X(TYPE_NULL_COPY_FN, type_null_copy_fn)                       \
    X(TYPE_NULL_DELETE_FN, type_null_delete_fn)                   \
    X(Test, test)                                                 \
    X(Test_cancelled, test_cancelled)                             \
    X(Testall, testall)                                           \
    X(Testany, testany)                                           \
    X(Testsome, testsome)                                         \
    X(Topo_test, topo_test)                                       \
    X(Type_c2f, type_c2f)                                         \
    X(Type_commit, type_commit)                                   \
    X(Type_contiguous, type_contiguous)                           \
    X(Type_create_darray, type_create_darray)                     \
    X(Type_create_f90_complex, type_create_f90_complex)           \
    X(Type_create_f90_integer, type_create_f90_integer)           \
    X(Type_create_f90_real, type_create_f90_real)                 \
    X(Type_create_hindexed, type_create_hindexed)                 \
    X(Type_create_hindexed_block, type_create_hindexed_block)     \
    X(Type_create_hvector, type_create_hvector)                   \
    X(Type_create_indexed_block, type_create_indexed_block)       \
    X(Type_create_keyval, type_create_keyval)                     \
    X(Type_create_resized, type_create_resized)                   \
    X(Type_create_struct, type_create_struct)                     \
    X(Type_create_subarray, type_create_subarray)                 \
    X(Type_delete_attr, type_delete_attr)                         \
    X(Type_dup, type_dup)                                         \
    X(Type_extent, type_extent)                                   \
    X(Type_f2c, type_f2c)                                         \
    X(Type_free, type_free)                                       \
    X(Type_free_keyval, type_free_keyval)                         \
    X(Type_get_attr, type_get_attr)                               \
    X(Type_get_contents, type_get_contents)                       \
    X(Type_get_envelope, type_get_envelope)                       \
    X(Type_get_extent, type_get_extent)                           \
    X(Type_get_extent_x, type_get_extent_x)                       \
    X(Type_get_name, type_get_name)                               \
    X(Type_get_true_extent, type_get_true_extent)                 \
    X(Type_get_true_extent_x, type_get_true_extent_x)             \
    X(Type_hindexed, type_hindexed)                               \
    X(Type_hvector, type_hvector)                                 \
    X(Type_indexed, type_indexed)                                 \
    X(Type_lb, type_lb)                                           \
    X(Type_match_size, type_match_size)                           \
    X(Type_set_attr, type_set_attr)                               \
    X(Type_set_name, type_set_name)                               \
    X(Type_size, type_size)                                       \
    X(Type_size_x, type_size_x)                                   \
    X(Type_struct, type_struct)                                   \
    X(Type_ub, type_ub)                                           \
    X(Type_vector, type_vector)                                   \
    X(Unpack, unpack)                                             \
    X(Unpack_external, unpack_external)                           \
    X(Unpublish_name, unpublish_name)                             \
    X(WIN_DUP_FN, win_dup_fn)                                     \
    X(WIN_NULL_COPY_FN, win_null_copy_fn)                         \
    X(WIN_NULL_DELETE_FN, win_null_delete_fn)                     \
    X(WTICK_F90, wtick_f90)                                       \
    X(WTIME_F90, wtime_f90)                                       \
    X(Wait, wait)                                                 \
    X(Waitall, waitall)                                           \
    X(Waitany, waitany)                                           \
    X(Waitsome, waitsome)                                         \
    X(Win_allocate, win_allocate)                                 \
    X(Win_allocate_shared, win_allocate_shared)                   \
    X(Win_attach, win_attach)                                     \
    X(Win_c2f, win_c2f)                                           \
    X(Win_call_errhandler, win_call_errhandler)                   \
    X(Win_complete, win_complete)                                 \
    X(Win_create, win_create)                                     \
    X(Win_create_dynamic, win_create_dynamic)                     \
    X(Win_create_errhandler, win_create_errhandler)               \
    X(Win_create_keyval, win_create_keyval)                       \
    X(Win_delete_attr, win_delete_attr)                           \
    X(Win_detach, win_detach)                                     \
    X(Win_f2c, win_f2c)                                           \
    X(Win_fence, win_fence)                                       \
    X(Win_flush, win_flush)                                       \
    X(Win_flush_all, win_flush_all)                               \
    X(Win_flush_local, win_flush_local)                           \
    X(Win_flush_local_all, win_flush_local_all)                   \
    X(Win_free, win_free)                                         \
    X(Win_free_keyval, win_free_keyval)                           \
    X(Win_get_attr, win_get_attr)                                 \
    X(Win_get_errhandler, win_get_errhandler)                     \
    X(Win_get_group, win_get_group)                               \
    X(Win_get_info, win_get_info)                                 \
    X(Win_get_name, win_get_name)                                 \
    X(Win_lock, win_lock)                                         \
    X(Win_lock_all, win_lock_all)                                 \
    X(Win_post, win_post)                                         \
    X(Win_set_attr, win_set_attr)                                 \
    X(Win_set_errhandler, win_set_errhandler)                     \
    X(Win_set_info, win_set_info)                                 \
    X(Win_set_name, win_set_name)                                 \
    X(Win_shared_query, win_shared_query)                         \
    X(Win_start, win_start)                                       \
    X(Win_sync, win_sync)                                         \
    X(Win_test, win_test)                                         \
    X(Win_unlock, win_unlock)                                     \
    X(Win_unlock_all, win_unlock_all)                             \
    X(Win_wait, win_wait)                                         \
    X(Wtick, wtick)                                               \
    X(Wtime, wtime)

#define MPICH_NAMES(X)                   \
    X(MPIX_Allreduce_enqueue)            \
    X(MPIX_Allreduce_enqueue_c)          \
    X(MPIX_Comm_agree)                   \
    X(MPIX_Comm_failure_ack)             \
    X(MPIX_Comm_failure_get_acked)       \
    X(MPIX_Comm_get_failed)              \
    X(MPIX_Comm_get_stream)              \
    X(MPIX_Comm_revoke)                  \
    X(MPIX_Comm_shrink)                  \
    X(MPIX_Comm_test_threadcomm)         \
    X(MPIX_GPU_query_support)            \
    X(MPIX_Grequest_class_allocate)      \
    X(MPIX_Grequest_class_create)        \
    X(MPIX_Grequest_start)               \
    X(MPIX_Info_set_hex)                 \
    X(MPIX_Irecv_enqueue)                \
    X(MPIX_Irecv_enqueue_c)              \
    X(MPIX_Isend_enqueue)                \
    X(MPIX_Isend_enqueue_c)              \
    X(MPIX_Query_cuda_support)           \
    X(MPIX_Query_hip_support)            \
    X(MPIX_Query_ze_support)             \
    X(MPIX_Recv_enqueue)                 \
    X(MPIX_Recv_enqueue_c)               \
    X(MPIX_Send_enqueue)                 \
    X(MPIX_Send_enqueue_c)               \
    X(MPIX_Start_progress_thread)        \
    X(MPIX_Stop_progress_thread)         \
    X(MPIX_Stream_comm_create)           \
    X(MPIX_Stream_comm_create_multiplex) \
    X(MPIX_Stream_create)                \
    X(MPIX_Stream_free)                  \
    X(MPIX_Stream_irecv)                 \
    X(MPIX_Stream_irecv_c)               \
    X(MPIX_Stream_isend)                 \
    X(MPIX_Stream_isend_c)               \
    X(MPIX_Stream_progress)              \
    X(MPIX_Stream_recv)                  \
    X(MPIX_Stream_recv_c)                \
    X(MPIX_Stream_send)                  \
    X(MPIX_Stream_send_c)                \
    X(MPIX_Threadcomm_finish)            \
    X(MPIX_Threadcomm_free)              \
    X(MPIX_Threadcomm_init)              \
    X(MPIX_Threadcomm_start)             \
    X(MPIX_Type_iov)                     \
    X(MPIX_Type_iov_len)                 \
    X(MPIX_Wait_enqueue)                 \
    X(MPIX_Waitall_enqueue)              \
    X(MPI_Accumulate_c)                  \
    X(MPI_Aint_add)                      \
    X(MPI_Aint_diff)                     \
    X(MPI_Allgather_c)                   \
    X(MPI_Allgather_init_c)              \
    X(MPI_Allgatherv_c)                  \
    X(MPI_Allgatherv_init_c)             \
    X(MPI_Allreduce_c)                   \
    X(MPI_Allreduce_init_c)              \
    X(MPI_Alltoall_c)                    \
    X(MPI_Alltoall_init_c)               \
    X(MPI_Alltoallv_c)                   \
    X(MPI_Alltoallv_init_c)              \
    X(MPI_Alltoallw_c)                   \
    X(MPI_Alltoallw_init_c)              \
    X(MPI_Bcast_c)                       \
    X(MPI_Bcast_init_c)                  \
    X(MPI_Bsend_c)                       \
    X(MPI_Bsend_init_c)                  \
    X(MPI_Buffer_attach_c)               \
    X(MPI_Buffer_detach_c)               \
    X(MPI_Buffer_flush)                  \
    X(MPI_Buffer_iflush)                 \
    X(MPI_Comm_attach_buffer)            \
    X(MPI_Comm_attach_buffer_c)          \
    X(MPI_Comm_detach_buffer)            \
    X(MPI_Comm_detach_buffer_c)          \
    X(MPI_Comm_flush_buffer)             \
    X(MPI_Comm_iflush_buffer)            \
    X(MPI_Exscan_c)                      \
    X(MPI_Exscan_init_c)                 \
    X(MPI_File_get_type_extent_c)        \
    X(MPI_File_iread_all_c)              \
    X(MPI_File_iread_at_all_c)           \
    X(MPI_File_iread_at_c)               \
    X(MPI_File_iread_c)                  \
    X(MPI_File_iread_shared_c)           \
    X(MPI_File_iwrite_all_c)             \
    X(MPI_File_iwrite_at_all_c)          \
    X(MPI_File_iwrite_at_c)              \
    X(MPI_File_iwrite_c)                 \
    X(MPI_File_iwrite_shared_c)          \
    X(MPI_File_read_all_begin_c)         \
    X(MPI_File_read_all_c)               \
    X(MPI_File_read_at_all_begin_c)      \
    X(MPI_File_read_at_all_c)            \
    X(MPI_File_read_at_c)                \
    X(MPI_File_read_c)                   \
    X(MPI_File_read_ordered_begin_c)     \
    X(MPI_File_read_ordered_c)           \
    X(MPI_File_read_shared_c)            \
    X(MPI_File_write_all_begin_c)        \
    X(MPI_File_write_all_c)              \
    X(MPI_File_write_at_all_begin_c)     \
    X(MPI_File_write_at_all_c)           \
    X(MPI_File_write_at_c)               \
    X(MPI_File_write_c)                  \
    X(MPI_File_write_ordered_begin_c)    \
    X(MPI_File_write_ordered_c)          \
    X(MPI_File_write_shared_c)           \
    X(MPI_Gather_c)                      \
    X(MPI_Gather_init_c)                 \
    X(MPI_Gatherv_c)                     \
    X(MPI_Gatherv_init_c)                \
    X(MPI_Get_accumulate_c)              \
    X(MPI_Get_c)                         \
    X(MPI_Get_count_c)                   \
    X(MPI_Get_elements_c)                \
    X(MPI_Get_hw_resource_info)          \
    X(MPI_Iallgather_c)                  \
    X(MPI_Iallgatherv_c)                 \
    X(MPI_Iallreduce_c)                  \
    X(MPI_Ialltoall_c)                   \
    X(MPI_Ialltoallv_c)                  \
    X(MPI_Ialltoallw_c)                  \
    X(MPI_Ibcast_c)                      \
    X(MPI_Ibsend_c)                      \
    X(MPI_Iexscan_c)                     \
    X(MPI_Igather_c)                     \
    X(MPI_Igatherv_c)                    \
    X(MPI_Imrecv_c)                      \
    X(MPI_Ineighbor_allgather_c)         \
    X(MPI_Ineighbor_allgatherv_c)        \
    X(MPI_Ineighbor_alltoall_c)          \
    X(MPI_Ineighbor_alltoallv_c)         \
    X(MPI_Ineighbor_alltoallw_c)         \
    X(MPI_Irecv_c)                       \
    X(MPI_Ireduce_c)                     \
    X(MPI_Ireduce_scatter_block_c)       \
    X(MPI_Ireduce_scatter_c)             \
    X(MPI_Irsend_c)                      \
    X(MPI_Iscan_c)                       \
    X(MPI_Iscatter_c)                    \
    X(MPI_Iscatterv_c)                   \
    X(MPI_Isend_c)                       \
    X(MPI_Isendrecv_c)                   \
    X(MPI_Isendrecv_replace_c)           \
    X(MPI_Issend_c)                      \
    X(MPI_Mrecv_c)                       \
    X(MPI_Neighbor_allgather_c)          \
    X(MPI_Neighbor_allgather_init_c)     \
    X(MPI_Neighbor_allgatherv_c)         \
    X(MPI_Neighbor_allgatherv_init_c)    \
    X(MPI_Neighbor_alltoall_c)           \
    X(MPI_Neighbor_alltoall_init_c)      \
    X(MPI_Neighbor_alltoallv_c)          \
    X(MPI_Neighbor_alltoallv_init_c)     \
    X(MPI_Neighbor_alltoallw_c)          \
    X(MPI_Neighbor_alltoallw_init_c)     \
    X(MPI_Op_create_c)                   \
    X(MPI_Pack_c)                        \
    X(MPI_Pack_external_c)               \
    X(MPI_Pack_external_size_c)          \
    X(MPI_Pack_size_c)                   \
    X(MPI_Put_c)                         \
    X(MPI_Raccumulate_c)                 \
    X(MPI_Recv_c)                        \
    X(MPI_Recv_init_c)                   \
    X(MPI_Reduce_c)                      \
    X(MPI_Reduce_init_c)                 \
    X(MPI_Reduce_local_c)                \
    X(MPI_Reduce_scatter_block_c)        \
    X(MPI_Reduce_scatter_block_init_c)   \
    X(MPI_Reduce_scatter_c)              \
    X(MPI_Reduce_scatter_init_c)         \
    X(MPI_Register_datarep_c)            \
    X(MPI_Remove_error_class)            \
    X(MPI_Remove_error_code)             \
    X(MPI_Remove_error_string)           \
    X(MPI_Request_get_status_all)        \
    X(MPI_Request_get_status_any)        \
    X(MPI_Request_get_status_some)       \
    X(MPI_Rget_accumulate_c)             \
    X(MPI_Rget_c)                        \
    X(MPI_Rput_c)                        \
    X(MPI_Rsend_c)                       \
    X(MPI_Rsend_init_c)                  \
    X(MPI_Scan_c)                        \
    X(MPI_Scan_init_c)                   \
    X(MPI_Scatter_c)                     \
    X(MPI_Scatter_init_c)                \
    X(MPI_Scatterv_c)                    \
    X(MPI_Scatterv_init_c)               \
    X(MPI_Send_c)                        \
    X(MPI_Send_init_c)                   \
    X(MPI_Sendrecv_c)                    \
    X(MPI_Sendrecv_replace_c)            \
    X(MPI_Session_attach_buffer)         \
    X(MPI_Session_attach_buffer_c)       \
    X(MPI_Session_detach_buffer)         \
    X(MPI_Session_detach_buffer_c)       \
    X(MPI_Session_flush_buffer)          \
    X(MPI_Session_iflush_buffer)         \
    X(MPI_Ssend_c)                       \
    X(MPI_Ssend_init_c)                  \
    X(MPI_Status_get_error)              \
    X(MPI_Status_get_source)             \
    X(MPI_Status_get_tag)                \
    X(MPI_Status_set_elements_c)         \
    X(MPI_Status_set_error)              \
    X(MPI_Status_set_source)             \
    X(MPI_Status_set_tag)                \
    X(MPI_Type_contiguous_c)             \
    X(MPI_Type_create_darray_c)          \
    X(MPI_Type_create_hindexed_block_c)  \
    X(MPI_Type_create_hindexed_c)        \
    X(MPI_Type_create_hvector_c)         \
    X(MPI_Type_create_indexed_block_c)   \
    X(MPI_Type_create_resized_c)         \
    X(MPI_Type_create_struct_c)          \
    X(MPI_Type_create_subarray_c)        \
    X(MPI_Type_get_contents_c)           \
    X(MPI_Type_get_envelope_c)           \
    X(MPI_Type_get_extent_c)             \
    X(MPI_Type_get_true_extent_c)        \
    X(MPI_Type_get_value_index)          \
    X(MPI_Type_indexed_c)                \
    X(MPI_Type_size_c)                   \
    X(MPI_Type_vector_c)                 \
    X(MPI_Unpack_c)                      \
    X(MPI_Unpack_external_c)             \
    X(MPI_Win_allocate_c)                \
    X(MPI_Win_allocate_shared_c)         \
    X(MPI_Win_create_c)                  \
    X(MPI_Win_shared_query_c)

#define MPICH_INTERNALS(X)        \
    X(MPII_Comm_set_attr)         \
    X(MPII_Grequest_set_lang_f77) \
    X(MPII_Keyval_set_proxy)      \
    X(MPII_Type_get_attr)         \
    X(MPII_Type_set_attr)         \
    X(MPII_Win_get_attr)          \
    X(MPII_Win_set_attr)
