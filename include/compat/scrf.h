! scrf.h: the constants of SCR for Fortran, fixed and free form. The calls have the names of the C interface and one
! more argument at the end, the result: call SCR_ROUTE_FILE(name, file, ierror).
      integer SCR_SUCCESS, SCR_FAILURE, SCR_MAX_FILENAME
      integer SCR_FLAG_NONE, SCR_FLAG_CHECKPOINT, SCR_FLAG_OUTPUT
      parameter (SCR_SUCCESS=0)
      parameter (SCR_FAILURE=1)
      parameter (SCR_MAX_FILENAME=1024)
      parameter (SCR_FLAG_NONE=0)
      parameter (SCR_FLAG_CHECKPOINT=1)
      parameter (SCR_FLAG_OUTPUT=2)
      external SCR_INIT, SCR_FINALIZE, SCR_ROUTE_FILE
      external SCR_CONFIG, SCR_GET_VERSION
      external SCR_HAVE_RESTART, SCR_START_RESTART
      external SCR_COMPLETE_RESTART
      external SCR_NEED_CHECKPOINT, SCR_START_CHECKPOINT
      external SCR_COMPLETE_CHECKPOINT
      external SCR_START_OUTPUT, SCR_COMPLETE_OUTPUT
      external SCR_SHOULD_EXIT, SCR_CURRENT, SCR_DROP, SCR_DELETE
