/* What is called of ScaLAPACK, which installs no C header. */
#ifndef TSW_SCALAPACK_H
#define TSW_SCALAPACK_H

#include <mpi.h>

int Csys2blacs_handle(MPI_Comm comm);
void Cblacs_gridinit(int *context, const char *order, int nprow, int npcol);
void Cblacs_gridexit(int context);
void descinit_(int desc[9], const int *m, const int *n, const int *mb, const int *nb,
	       const int *rsrc, const int *csrc, const int *context, const int *ld, int *info);

/* sub(C) := beta sub(C) + alpha sub(A)' */
void pdtran_(const int *m, const int *n, const double *alpha, const double *a, const int *ia,
	     const int *ja, const int desca[9], const double *beta, double *c, const int *ic,
	     const int *jc, const int descc[9]);

#endif /* TSW_SCALAPACK_H */
