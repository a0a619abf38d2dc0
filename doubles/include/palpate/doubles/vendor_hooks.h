#pragma once

// Between a shared object that stands in for a vendor's library and the program that holds the hand: plain C, so that
// the shared object needs nothing of Palpate. World frame: x right, y up, z towards the user; SI.
extern "C" {

struct PalpateDoubleHand {
  void* context;
  void (*now)(void* context, double position[3], double rotation_wxyz[4], double velocity[3], unsigned* buttons,
              double* grip);
  void (*push)(void* context, const double force[3], const double torque[3]);
  void (*let_go)(void* context);
  int (*next_fault)(void* context, double* seconds);  ///< a Fault's number, once; −1: none
  int (*is_plugged)(void* context);
};

/// Exported by each of them. Puts a hand behind its device 0 or 1. A device without a hand is not there, but if neither
/// has one, both are, with hands of their own that go round slowly. The pointer stays valid until the next call for the
/// same device.
void palpate_double_use(int device, const PalpateDoubleHand* hand);
}
