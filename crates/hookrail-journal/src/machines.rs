//! Journals that several machines can reach. Machines that share a home directory have no lock in common that can be relied on,
//! so a journal on a network file system belongs to the machine that wrote its last record.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};

use crate::error::JournalError;
use crate::segment::{self, SegmentFile, SegmentForm, end_of, open_file};

/// The machine stands behind the number, the hash before, the time and the kind of a record.
const MOST_BEFORE_MACHINE: u64 = 1024;

/// The machine that wrote the last record of some segments; none if there is no record.
pub(crate) fn last_machine(segments: &[SegmentFile]) -> Result<Option<String>, JournalError> {
    for segment in segments.iter().rev() {
        let begin = match segment.form {
            SegmentForm::Plain => last_of_plain(segment)?,
            SegmentForm::Compressed => last_of_compressed(segment)?,
        };
        if let Some(begin) = begin {
            return Ok(machine_in(&begin));
        }
    }
    Ok(None)
}

/// The beginning of the last record that holds.
fn last_of_plain(segment: &SegmentFile) -> Result<Option<Vec<u8>>, JournalError> {
    let mut options = OpenOptions::new();
    let mut file = open_file(&segment.path, options.read(true))?;
    let mut read = || -> io::Result<Option<Vec<u8>>> {
        let end = end_of(&mut file)?;
        if end.last.is_none() {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(end.last_begin))?;
        let mut begin = Vec::new();
        (&file).take(MOST_BEFORE_MACHINE).read_to_end(&mut begin)?;
        Ok(Some(begin))
    };
    read().map_err(|error| JournalError::io(&segment.path, error))
}

fn last_of_compressed(segment: &SegmentFile) -> Result<Option<Vec<u8>>, JournalError> {
    let mut source = segment::open_for_reading(segment)?;
    let (mut line, mut last) = (Vec::new(), None);
    // What can be read of a damaged file is all there is.
    while source.read_line(&mut line).is_ok_and(|read| read > 0) {
        last = Some(std::mem::take(&mut line));
    }
    Ok(last)
}

fn machine_in(record: &[u8]) -> Option<String> {
    let member: &[u8] = br#""machine":""#;
    let after = record.get(memchr::memmem::find(record, member)? + member.len()..)?;
    let name = after.get(..memchr::memchr(b'"', after)?)?;
    Some(String::from_utf8_lossy(name).into_owned())
}

/// Whether a file lies on a file system that several machines can use at once. FUSE is one: `sshfs` and most file systems of
/// virtual machines use it.
#[cfg(target_os = "linux")]
pub(crate) fn is_on_network(file: &File) -> bool {
    /// AFS (two), BeeGFS, Ceph, CIFS, Coda, FUSE, GFS2, GPFS, Lustre, NCP, NFS, OCFS2, OrangeFS, 9p, PanFS, Parallels, SMB,
    /// SMB2, VirtualBox, VMware.
    const NETWORK: [u64; 21] = [
        0x5346_414f,
        0x6b41_4653,
        0x1983_0326,
        0x00c3_6400,
        0xff53_4d42,
        0x7375_7245,
        0x6573_5546,
        0x0116_1970,
        0x4750_4653,
        0x0bd0_0bd0,
        0x564c,
        0x6969,
        0x7461_636f,
        0x2003_0528,
        0x0102_1997,
        0xaad7_aaea,
        0x7c7c_6673,
        0x517b,
        0xfe53_4d42,
        0x786f_4256,
        0xbacb_acbc,
    ];
    rustix::fs::fstatfs(file).is_ok_and(|about| {
        // The type is signed on some machines.
        let kind = u64::try_from(i128::from(about.f_type) & 0xffff_ffff).unwrap_or(0);
        NETWORK.contains(&kind)
    })
}

#[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
pub(crate) fn is_on_network(file: &File) -> bool {
    /// `MNT_LOCAL` of `sys/mount.h`.
    const LOCAL: u64 = 0x1000;
    rustix::fs::fstatfs(file).is_ok_and(|about| u64::from(about.f_flags) & LOCAL == 0)
}

/// Other systems do not say in a common way what a file system is.
#[cfg(not(any(target_os = "linux", target_vendor = "apple", target_os = "freebsd")))]
pub(crate) fn is_on_network(_file: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a failure here is a failed test")]

    use std::time::SystemTime;

    use crate::writer::Writer;
    use crate::{JournalError, JournalOptions, Retention, retention};

    /// A journal on a network file system, and what each machine may append to it.
    struct SharedJournal {
        _dir: tempfile::TempDir,
        options: JournalOptions,
    }

    impl SharedJournal {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let options = JournalOptions::new(dir.path().join("journal"));
            Self { _dir: dir, options }
        }

        fn append(&self, machine: &str, bytes: usize) -> Result<u64, JournalError> {
            let writer = &mut Writer::new(&self.options, machine.to_owned());
            writer.is_on_network = |_| true;
            Self::append_with(writer, machine, bytes)
        }

        fn append_with(writer: &mut Writer, machine: &str, bytes: usize) -> Result<u64, JournalError> {
            let filler = "x".repeat(bytes);
            let members = format!(r#""v":1,"kind":"trust","machine":"{machine}","hook":"{filler}""#);
            writer.append(members.as_bytes(), SystemTime::now()).map(|appended| appended.seq)
        }

        /// Asserts that the journal is that of `one`, and only its.
        fn belongs_to_one(&self, next: u64) {
            match self.append("two", 0) {
                Err(JournalError::SharedByMachines { other, .. }) => assert_eq!(other, "one"),
                other => panic!("{other:?}"),
            }
            assert_eq!(self.append("one", 0).unwrap(), next);
        }
    }

    #[test]
    fn a_journal_on_a_network_file_system_has_one_machine() {
        let journal = SharedJournal::new();
        journal.append("one", 0).unwrap();
        journal.belongs_to_one(2);
        journal.append("one", 100_000).unwrap();
        journal.belongs_to_one(4);
    }

    #[test]
    fn another_machine_is_kept_out_whatever_the_newest_segment_is() {
        let mut journal = SharedJournal::new();
        journal.options.segment_bytes = 1;
        for _ in 0..2 {
            journal.append("one", 0).unwrap();
        }
        let folder = journal.options.directory.clone();
        retention::maintain(&folder, Retention::default(), SystemTime::now()).unwrap();
        // Only the compressed one is left.
        let newest = crate::segment::list(&folder).unwrap().pop().unwrap();
        std::fs::remove_file(&newest.path).unwrap();
        journal.belongs_to_one(2);
        // The newest one is empty: its writer was killed before it wrote a record.
        let newest = crate::segment::list(&folder).unwrap().pop().unwrap();
        std::fs::File::options().write(true).open(&newest.path).unwrap().set_len(0).unwrap();
        journal.belongs_to_one(2);
        // Its last record is damaged.
        let newest = crate::segment::list(&folder).unwrap().pop().unwrap();
        let text = std::fs::read_to_string(&newest.path).unwrap();
        std::fs::write(&newest.path, text.replace("trust", "thrust")).unwrap();
        journal.belongs_to_one(2);
    }

    #[test]
    fn a_writer_notices_the_other_machine_while_it_writes() {
        let journal = SharedJournal::new();
        let mut first = Writer::new(&journal.options, "one".to_owned());
        first.is_on_network = |_| true;
        SharedJournal::append_with(&mut first, "one", 0).unwrap();
        // The other machine does not know that the file system is shared.
        let mut other = Writer::new(&journal.options, "two".to_owned());
        other.is_on_network = |_| false;
        SharedJournal::append_with(&mut other, "two", 50_000).unwrap();
        let error = SharedJournal::append_with(&mut first, "one", 0).unwrap_err();
        assert!(matches!(error, JournalError::SharedByMachines { .. }), "{error}");
    }
}
