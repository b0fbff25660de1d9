// SPDX-License-Identifier: Apache-2.0
// Sizes of the ARC sub-core unit and the fields of the numbers that it adds.

package arc_pkg;

  // A warp and its register-file operand.
  localparam int Lanes = 32;
  localparam int DataWidth = 32;

  // Datapaths of the reduction unit, values of the parameter Datapath: 2^Datapath lanes a cycle.
  localparam int DatapathSerial = 0;
  localparam int DatapathPaired = 1;
  localparam int DatapathFused = 2;

  // What a word is, values of the parameter Format: an FP32, two binary16 numbers.
  localparam int FormatF32 = 0;
  localparam int FormatF16x2 = 1;

  // Schedulers, values of the parameter Scheduler.
  localparam int SchedulerGreedy = 0;
  localparam int SchedulerGroups = 1;
  // Congestion of the memory path: it begins after 2^StallBits cycles without room and lasts for
  // 2^CongestionBits - 2^StallBits groups.
  localparam int StallBits = 6;
  localparam int CongestionBits = 13;

  // A memory transaction.
  localparam int AddrWidth = 48;  // byte address
  localparam int TagWidth = 12;   // opaque, returned with everything that stems from a request
  // A sector is what the L2 adds to in one operation; the bits of an address in it, and in a word.
  localparam int SectorBits = 5;
  localparam int WordBits = 2;

  // Words of a lane that a request adds, at most: of any unit, and the bits of their numbers.
  localparam int MostWords = 16;
  localparam int WordWidth = 4;

  // Fused datapath: lane l is read through bank l % Banks; bits kept of a value. A bin is eight
  // exponents.
  localparam int Banks = 4;
  localparam int FusedWindow = 44;
  localparam int BinWidth = 5;
  localparam int BinShift = 3;  // an exponent without its lowest three bits is its bin

  // Paired datapath: lane l is read through bank l % PairedBanks; bits kept of a value, and those of a sum,
  // which is 32 values and a sign.
  localparam int PairedBanks = 2;
  localparam int PairedWindow = 32;
  localparam int PairedSumWidth = PairedWindow + 6;

  // FP32: sign, exponent, fraction; the significand is the hidden bit and the fraction.
  localparam int ExpWidth = 8;
  localparam int FracWidth = 23;
  localparam int SigWidth = 24;
  localparam logic [7:0] ExpMax = 8'hff;                  // exponent of infinity and NaN
  localparam logic [31:0] NegativeZero = 32'h8000_0000;   // neutral element of the addition

  // A word of two binary16 numbers: the fields of one, and the neutral element of both additions.
  localparam int HalfWidth = 16;
  localparam int HalfExpWidth = 5;
  localparam int HalfFracWidth = 10;
  localparam logic [31:0] NegativeZeros = 32'h8000_8000;

endpackage
