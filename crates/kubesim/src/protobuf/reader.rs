//! A message taken apart into its fields.

use super::ProtobufError;

/// The value of a field as it stands on the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wire<'a> {
    Varint(u64),
    Fixed(u64),
    Bytes(&'a [u8]),
}

impl<'a> Wire<'a> {
    pub(super) fn bytes(self) -> Result<&'a [u8], ProtobufError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Varint(_) => Err(ProtobufError::WireType(0)),
            Self::Fixed(_) => Err(ProtobufError::WireType(1)),
        }
    }

    pub(super) fn text(self) -> Result<&'a str, ProtobufError> {
        std::str::from_utf8(self.bytes()?).map_err(|_| ProtobufError::Text)
    }

    /// A signed number, however it is written.
    pub(super) fn number(self) -> Result<i64, ProtobufError> {
        match self {
            Self::Varint(number) | Self::Fixed(number) => Ok(number.cast_signed()),
            Self::Bytes(_) => Err(ProtobufError::WireType(2)),
        }
    }
}

/// The fields of a message, in the order in which they were written.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn varint(&mut self) -> Result<u64, ProtobufError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let [byte] = *self.take(1)? else {
                return Err(ProtobufError::Truncated);
            };
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(ProtobufError::Truncated)
    }

    pub(super) fn is_done(&self) -> bool {
        self.0.is_empty()
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], ProtobufError> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or(ProtobufError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    fn fixed(&mut self, count: usize) -> Result<u64, ProtobufError> {
        let bytes = self.take(count)?;
        Ok(bytes
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    fn field(&mut self) -> Result<(u32, Wire<'a>), ProtobufError> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).map_err(|_| ProtobufError::Truncated)?;
        let wire = match tag & 7 {
            0 => Wire::Varint(self.varint()?),
            1 => Wire::Fixed(self.fixed(8)?),
            2 => {
                let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                Wire::Bytes(self.take(length)?)
            }
            5 => Wire::Fixed(self.fixed(4)?),
            other => return Err(ProtobufError::WireType(other)),
        };
        Ok((number, wire))
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<(u32, Wire<'a>), ProtobufError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}
