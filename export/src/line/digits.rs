//! Converts numbers to digits, several digits at a time in one register.

/// Exclusive upper bound of the numbers that [`eight`] can convert.
pub(crate) const EIGHT_DIGITS: u32 = 100_000_000;

const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;

/// Exclusive upper bound of the numbers in [`SHORT`].
pub(crate) const SHORT_DIGITS: usize = 1000;

/// Digits of each number that has up to three digits, the first digit in the lowest byte. The
/// highest byte contains the count of digits.
static SHORT: [u32; SHORT_DIGITS] = short_numbers();

const fn short_numbers() -> [u32; SHORT_DIGITS] {
    let mut all = [0; SHORT_DIGITS];
    let mut number = 0;
    while number < SHORT_DIGITS {
        let zero = b'0' as u32;
        let hundreds = zero + number as u32 / 100;
        let tens = zero + number as u32 / 10 % 10;
        let ones = zero + number as u32 % 10;
        all[number] = match number {
            0..10 => ones | 1 << 24,
            10..100 => tens | ones << 8 | 2 << 24,
            _ => hundreds | tens << 8 | ones << 16 | 3 << 24,
        };
        number += 1;
    }
    all
}

/// Returns the digits of a number below [`SHORT_DIGITS`], and how many digits these are: 1 to 3.
#[inline(always)]
pub(crate) fn short(number: usize) -> ([u8; 4], usize) {
    let digits = SHORT[number % SHORT_DIGITS];
    (digits.to_le_bytes(), (digits >> 24) as usize)
}

/// Returns the digits of a number below [`EIGHT_DIGITS`] without leading zeros, and how many digits
/// these are: 1 to 8.
#[inline(always)]
pub(crate) fn up_to_eight(number: u32) -> ([u8; 8], usize) {
    let digits = lanes(number);
    // Zero has one digit too.
    let zeros = (digits | 1 << 56).trailing_zeros() / 8;
    (((digits | ASCII_ZEROS) >> (zeros * 8)).to_le_bytes(), 8 - zeros as usize)
}

/// Returns a number below [`EIGHT_DIGITS`] as eight digits, including leading zeros.
#[inline(always)]
pub(crate) fn eight(number: u32) -> [u8; 8] {
    (lanes(number) | ASCII_ZEROS).to_le_bytes()
}

/// Returns the eight decimal digits of a number below 10^8, the first digit in the lowest byte. The
/// number is split into halves of four digits, then pairs, then digits, in lanes of one register.
#[inline(always)]
fn lanes(number: u32) -> u64 {
    let halves = u64::from(number / 10_000) | u64::from(number % 10_000) << 32;
    // 10486 / 2^20 and 103 / 2^10 approximate 1/100 and 1/10, precisely enough for four
    // and two digits.
    let hundreds = (halves * 10_486) >> 20 & 0x0000_007f_0000_007f;
    let pairs = hundreds | (halves - hundreds * 100) << 16;
    let tens = (pairs * 103) >> 10 & 0x000f_000f_000f_000f;
    tens | (pairs - tens * 10) << 8
}

/// Returns the hexadecimal digits of a 32-bit number, and the number of significant digits: 1 to 8.
#[inline(always)]
pub(crate) fn hex_up_to_eight(number: u32) -> ([u8; 8], usize) {
    let zeros = (number | 1).leading_zeros() as usize / 4;
    let mut digits = [0; 8];
    put_eight_hex(&mut digits, number << (zeros * 4));
    (digits, 8 - zeros)
}

/// Returns the hexadecimal digits of a number, and the number of significant digits: 1 to 16.
#[inline(always)]
pub(crate) fn hex(number: u64) -> ([u8; 16], usize) {
    let zeros = (number | 1).leading_zeros() as usize / 4;
    (sixteen_hex(number << (zeros * 4)), 16 - zeros)
}

/// Returns all sixteen hexadecimal digits of a number.
#[inline(always)]
pub(crate) fn sixteen_hex(number: u64) -> [u8; 16] {
    let mut halves = [number >> 32, number & 0xffff_ffff];
    // A loop is vectorised wherever this is inlined.
    for half in &mut halves {
        *half = hex_lanes(half.swap_bytes() >> 32);
    }
    let mut digits = [0; 16];
    digits[..8].copy_from_slice(&halves[0].to_le_bytes());
    digits[8..].copy_from_slice(&halves[1].to_le_bytes());
    digits
}

/// The two hexadecimal digits of each byte.
static PAIRS: [[u8; 2]; 256] = pairs();

const fn pairs() -> [[u8; 2]; 256] {
    let digits = b"0123456789abcdef";
    let mut all = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        all[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    all
}

/// Writes all eight hexadecimal digits of a number to `to`. For a single number, which cannot be
/// vectorised, this method takes half as many instructions as lanes.
#[inline(always)]
pub(crate) fn put_eight_hex(to: &mut [u8; 8], number: u32) {
    let (pairs, _) = to.as_chunks_mut::<2>();
    for (pair, byte) in pairs.iter_mut().zip(number.to_be_bytes()) {
        *pair = PAIRS[usize::from(byte)];
    }
}

/// Returns the hexadecimal digits of four bytes, the lowest byte first. Each byte is split into its
/// two digits, which are spread over the lanes of one register. The compiler vectorises two calls
/// at once.
#[inline(always)]
fn hex_lanes(bytes: u64) -> u64 {
    let spread = (bytes | bytes << 16) & 0x0000_ffff_0000_ffff;
    let spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff;
    let digits = (spread >> 4 | spread << 8) & 0x0f0f_0f0f_0f0f_0f0f;
    // Digits from ten on are letters, and `a` comes 39 places after `9` + 1: 32 and 8, less 1.
    let sixteens = (digits + 0x0606_0606_0606_0606) & 0x1010_1010_1010_1010;
    digits + ASCII_ZEROS + (sixteens << 1) + (sixteens >> 1) - (sixteens >> 4)
}
