"""The backend of Gluon: warp-specialised kernels for sm_90."""
