// RUN: INVALID | filecheck %s

host.launch @nothing() :
// CHECK: error: 'host.launch' is malformed: 'nothing' is not a kernel
// -----
%x = host.size x : index
host.launch @k(%x) : index
loop.kernel @k() attributes {labels = [], root = "f"} {
  loop.grid () {
  }
}
// CHECK: error: 'host.launch' is malformed: the arguments do not fit those of 'k'
// -----
%x = host.size x : index
%end = host.round_up %x to 0 : index
// CHECK: error: 'host.round_up' is malformed: a size is rounded up to a multiple of a positive number
