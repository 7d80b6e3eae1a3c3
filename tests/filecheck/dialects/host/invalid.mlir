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
