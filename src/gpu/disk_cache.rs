//! Compiled kernels on disk, in the driver's own form (Vulkan's pipeline cache).
//!
//! The library writes a file only if an application names a folder. A file is read when a device is
//! opened and written after each compilation that took long. It is valid for one adapter and
//! driver; a damaged or foreign one is ignored and replaced.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use super::GpuError;

static FOLDER: RwLock<Option<PathBuf>> = RwLock::new(None);

/// What a file begins with; then follows the check sum of the rest.
const HEAD: &[u8] = b"eventhorizon kernels 1\n";

/// Bytes of a file, at most: larger ones take longer to read than they save, and begin anew.
const MOST: u64 = 32 << 20;

/// Bytes below which the driver has put nothing into its cache but a header.
const LEAST: usize = 1 << 10;

/// Compilations that take less are not worth a file.
const LONG: Duration = Duration::from_millis(20);

/// Keeps the compiled kernels of devices that are opened from now on in files of this folder, where
/// the adapter's interface has such files (Vulkan), or in none.
pub fn keep_kernels_in(folder: Option<PathBuf>) {
    *FOLDER.write().unwrap_or_else(PoisonError::into_inner) = folder;
}

/// The folder that an application named.
pub(super) fn folder() -> Option<PathBuf> {
    FOLDER.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A text that [`keep_text`] wrote in the folder.
pub(crate) fn kept_text(name: &str) -> Option<String> {
    String::from_utf8(load(&folder()?.join(name))?).ok()
}

/// Writes a text to a file in the folder, if an application named one. The log says why it cannot
/// be written.
pub(crate) fn keep_text(name: &str, text: &str) {
    let Some(path) = folder().map(|folder| folder.join(name)) else { return };
    if let Err(error) = save(&path, text.as_bytes()) {
        log::info!("{}: {error}", path.display());
    }
}

/// The file of a device.
#[derive(Debug)]
pub struct DiskCache {
    cache: wgpu::PipelineCache,
    path: PathBuf,
    read: usize,
    /// Bytes of the present file.
    saved: Mutex<usize>,
}

impl DiskCache {
    /// Reads the file of an adapter, whose device makes a cache of the data.
    pub(super) fn open(
        folder: &Path,
        adapter: &wgpu::AdapterInfo,
        make: impl FnOnce(&wgpu::PipelineCacheDescriptor<'_>) -> Result<wgpu::PipelineCache, GpuError>,
    ) -> Option<Self> {
        let path = folder.join(wgpu::util::pipeline_cache_key(adapter)?);
        let data = load(&path).unwrap_or_default();
        let descriptor = wgpu::PipelineCacheDescriptor {
            label: Some("kernels"),
            data: (!data.is_empty()).then_some(&*data),
            fallback: true,
        };
        let made = make(&descriptor);
        let cache = made.inspect_err(|error| log::info!("kernels are not kept on disk: {error}")).ok()?;
        log::debug!("{} bytes of kernels in {}", data.len(), path.display());
        Some(Self { cache, path, read: data.len(), saved: Mutex::new(data.len()) })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes that were read from it: none if it was missing, damaged, or of another driver.
    pub fn bytes(&self) -> usize {
        self.read
    }

    pub(super) fn cache(&self) -> &wgpu::PipelineCache {
        &self.cache
    }

    /// Writes the file if a compilation took long. A file that cannot be written costs time, no
    /// results: the log says why.
    pub(super) fn compiled(&self, took: Duration) {
        if took < LONG {
            return;
        }
        // In this order: another thread may have compiled and saved more meanwhile.
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(data) = self.cache.get_data() else { return };
        if data.len() < LEAST || data.len() == *saved {
            return;
        }
        match save(&self.path, &data) {
            Ok(()) => *saved = data.len(),
            Err(error) => log::info!("{}: {error}", self.path.display()),
        }
    }
}

/// The data of a file, unless it is missing, too large or damaged.
fn load(path: &Path) -> Option<Vec<u8>> {
    // To open a pipe would wait for its writer.
    let file = fs::metadata(path).ok()?;
    if !file.is_file() || file.len() > MOST {
        return None;
    }
    let mut bytes = fs::read(path).ok()?;
    let sum = bytes.strip_prefix(HEAD)?.first_chunk::<4>()?;
    let sum = u32::from_le_bytes(*sum);
    bytes.drain(..HEAD.len() + 4);
    (crc32fast::hash(&bytes) == sum).then_some(bytes)
}

/// Writes a file in one step: other programs read the old or the new one.
pub(super) fn save(path: &Path, data: &[u8]) -> std::io::Result<()> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let bytes = [HEAD, &crc32fast::hash(data).to_le_bytes(), data].concat();
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let new = path.with_extension(format!("{}-{number}.new", std::process::id()));
    let written = fs::write(&new, bytes).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("eventhorizon-{name}-{}", std::process::id())).join("kernels")
    }

    #[test]
    fn files_return_what_was_saved_and_damaged_ones_nothing() {
        let path = file("kernels");
        assert_eq!(load(&path), None, "it is missing");
        let data: Vec<u8> = (0..2000_u32).map(|byte| byte.to_le_bytes()[0]).collect();
        save(&path, &data).unwrap();
        assert_eq!(load(&path).as_deref(), Some(&*data));
        save(&path, &data[..1500]).unwrap();
        assert_eq!(load(&path).as_deref(), Some(&data[..1500]));
        let whole = fs::read(&path).unwrap();
        for damaged in [0, HEAD.len(), HEAD.len() + 3, HEAD.len() + 4, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[damaged] ^= 1;
            fs::write(&path, bytes).unwrap();
            assert_eq!(load(&path), None, "byte {damaged}");
        }
        for length in [0, 1, HEAD.len(), HEAD.len() + 3, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(load(&path), None, "{length} bytes");
        }
        let folder = path.parent().unwrap();
        assert_eq!(load(folder), None, "a folder is no file");
        #[cfg(unix)]
        {
            let pipe = folder.join("pipe");
            assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
            assert_eq!(load(&pipe), None, "a pipe without a writer");
            fs::remove_file(pipe).unwrap();
        }
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "no other file is left");
        fs::remove_dir_all(folder).unwrap();
    }
}
