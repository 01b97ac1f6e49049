//! Hashes. MD5 and SHA-1 are here because git and many caches name things by them, not to protect anything.

use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};

use super::text::bytes;
use super::{OpAnswer, OpError};
use crate::op_answer::Bytes;

pub(super) fn hash(algorithm: &str, input: &str) -> Result<OpAnswer, OpError> {
    let input = bytes(input)?;
    let digest: Vec<u8> = match algorithm {
        "sha224" => Sha224::digest(&input).to_vec(),
        "sha256" => Sha256::digest(&input).to_vec(),
        "sha384" => Sha384::digest(&input).to_vec(),
        "sha512" => Sha512::digest(&input).to_vec(),
        "sha1" => hmac_sha1_compact::Hash::hash(&input).to_vec(),
        "md5" => md5(&input),
        other => {
            let message =
                format!("the hash `{other}` is not available; there are md5, sha1, sha224, sha256, sha384 and sha512");
            return Err(OpError::new(message));
        }
    };
    OpAnswer::serialize(&Bytes(&digest))
}

/// The message with its padding: a one, zeros, and the length in bits.
fn padded(input: &[u8]) -> Vec<u8> {
    let mut message = input.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend(u64::try_from(input.len()).unwrap_or(0).wrapping_mul(8).to_le_bytes());
    message
}

fn md5(input: &[u8]) -> Vec<u8> {
    const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded(input).chunks(64) {
        let block: Vec<u32> = block.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let [mut a, mut b, mut c, mut d] = state;
        for (round, shifts) in SHIFTS.iter().enumerate() {
            for step in 0..16 {
                let (mixed, from) = match round {
                    0 => ((b & c) | (!b & d), step),
                    1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
                    2 => (b ^ c ^ d, (3 * step + 5) % 16),
                    _ => (c ^ (b | !d), (7 * step) % 16),
                };
                let word = block.get(from).copied().unwrap_or(0);
                let sum = mixed.wrapping_add(a).wrapping_add(constant(round * 16 + step)).wrapping_add(word);
                let turned = sum.rotate_left(shifts.get(step % 4).copied().unwrap_or(0));
                (a, d, c, b) = (d, c, b, b.wrapping_add(turned));
            }
        }
        for (old, new) in state.iter_mut().zip([a, b, c, d]) {
            *old = old.wrapping_add(new);
        }
    }
    state.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The constants of MD5 are the first 32 bits of the sines of whole numbers.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sine times 2^32 fits into 32 bits")]
fn constant(step: usize) -> u32 {
    let angle = f64::from(u32::try_from(step + 1).unwrap_or(0));
    (angle.sin().abs() * 4_294_967_296.0) as u32
}

#[cfg(test)]
mod tests {
    use hookrail::trust::hex;

    use super::*;

    #[test]
    fn known_digests() {
        let sha1 = |input: &[u8]| hex(&hmac_sha1_compact::Hash::hash(input));
        assert_eq!(sha1(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(sha1(&[b'a'; 100]), "7f9000257a4918d7072655ea468540cdcbd42e0c");
        assert_eq!(hex(&md5(b"")), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex(&md5(b"abc")), "900150983cd24fb0d6963f7d28e17f72");
    }
}
