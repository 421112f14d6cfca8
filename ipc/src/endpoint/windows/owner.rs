//! Makes pipes and files that only this user may open. The standard library knows no access control
//! lists, so this file has `unsafe` code.
#![expect(unsafe_code, reason = "calls of Windows; each has its reason")]

use std::fs::File;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::null_mut;
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Security::{
    ACL_REVISION, AddAccessAllowedAceEx, CONTAINER_INHERIT_ACE, DACL_SECURITY_INFORMATION,
    GetTokenInformation, InitializeAcl, InitializeSecurityDescriptor, OBJECT_INHERIT_ACE,
    PROTECTED_DACL_SECURITY_INFORMATION, PSECURITY_DESCRIPTOR, SE_DACL_PROTECTED,
    SECURITY_ATTRIBUTES, SECURITY_DESCRIPTOR, SetKernelObjectSecurity,
    SetSecurityDescriptorControl, SetSecurityDescriptorDacl, TOKEN_QUERY, TOKEN_USER, TokenUser,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ALL_ACCESS, FILE_FLAG_FIRST_PIPE_INSTANCE, FILE_FLAG_OVERLAPPED, PIPE_ACCESS_DUPLEX,
};
use windows_sys::Win32::System::Pipes::{
    CreateNamedPipeW, PIPE_READMODE_BYTE, PIPE_REJECT_REMOTE_CLIENTS, PIPE_TYPE_BYTE,
    PIPE_UNLIMITED_INSTANCES, PIPE_WAIT,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

/// Number of bytes for which each direction of a pipe has room, as runtimes have.
const PIPE_BUFFER_BYTES: u32 = 16 << 10;
/// Revision of security descriptors, of which there is one.
const DESCRIPTOR_REVISION: u32 = 1;
/// Number of 8-byte words for the user of a token: a pointer, attributes, and an id of at most 68
/// bytes.
const USER_WORDS: usize = 16;
/// Number of 8-byte words for a list with one entry for an id of at most 68 bytes.
const LIST_WORDS: usize = 16;

/// Calls a function with a security descriptor of pipes and files: this user may do everything,
/// others nothing, and what a folder says about them does not matter.
fn with_descriptor<T>(call: impl FnOnce(PSECURITY_DESCRIPTOR) -> io::Result<T>) -> io::Result<T> {
    let mut user = [0_u64; USER_WORDS];
    let mut list = [0_u64; LIST_WORDS];
    let mut descriptor = SECURITY_DESCRIPTOR::default();
    let (mut token, mut needed): (HANDLE, u32) = (null_mut(), 0);
    // SAFETY: the process's own handle needs no closing, and `token` takes the new one.
    check(unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) })?;
    // SAFETY: the handle was just opened, and nothing else closes it.
    let token = unsafe { OwnedHandle::from_raw_handle(token) };
    let (handle, place, size) = (token.as_raw_handle(), user.as_mut_ptr(), bytes_of(&user));
    // SAFETY: `place` has `size` bytes.
    check(unsafe { GetTokenInformation(handle, TokenUser, place.cast(), size, &raw mut needed) })?;
    // SAFETY: the call above has written a TOKEN_USER to `user`, whose words are aligned as it is.
    // The id that it points to lies in `user`, too.
    let id = unsafe { (*place.cast::<TOKEN_USER>()).User.Sid };
    let (list_place, list_size) = (list.as_mut_ptr().cast(), bytes_of(&list));
    let place = (&raw mut descriptor).cast();
    let inherited = OBJECT_INHERIT_ACE | CONTAINER_INHERIT_ACE;
    // SAFETY: the list has `list_size` bytes, the descriptor has room for what is written to it, and
    // both live until `call` has returned.
    unsafe {
        check(InitializeAcl(list_place, list_size, ACL_REVISION))?;
        check(AddAccessAllowedAceEx(list_place, ACL_REVISION, inherited, FILE_ALL_ACCESS, id))?;
        check(InitializeSecurityDescriptor(place, DESCRIPTOR_REVISION))?;
        check(SetSecurityDescriptorDacl(place, 1, list_place, 0))?;
        check(SetSecurityDescriptorControl(place, SE_DACL_PROTECTED, SE_DACL_PROTECTED))?;
    }
    call(place)
}

/// Creates an instance of a pipe for overlapped operations, to which only this user may connect, from
/// this machine. The `first` instance fails if there is a pipe of that name.
pub(super) fn create_pipe(name: &str, is_first: bool) -> io::Result<File> {
    let path: Vec<u16> = format!(r"\\.\pipe\{name}").encode_utf16().chain([0]).collect();
    let first = if is_first { FILE_FLAG_FIRST_PIPE_INSTANCE } else { 0 };
    with_descriptor(|descriptor| {
        let attributes = SECURITY_ATTRIBUTES {
            nLength: u32::try_from(size_of::<SECURITY_ATTRIBUTES>()).unwrap_or_default(),
            lpSecurityDescriptor: descriptor,
            bInheritHandle: 0,
        };
        // SAFETY: `path` ends with a NUL, and the attributes live until the call has returned.
        let handle = unsafe {
            CreateNamedPipeW(
                path.as_ptr(),
                PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | first,
                PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS,
                PIPE_UNLIMITED_INSTANCES,
                PIPE_BUFFER_BYTES,
                PIPE_BUFFER_BYTES,
                0,
                &raw const attributes,
            )
        };
        if handle == INVALID_HANDLE_VALUE {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle was just created, and nothing else closes it.
        Ok(unsafe { File::from_raw_handle(handle) })
    })
}

/// Makes a file, or a folder with what is created in it, one that only this user may open.
///
/// # Errors
/// The file was opened without `WRITE_DAC`, or its file system knows no users.
pub fn restrict_to_user(file: &File) -> io::Result<()> {
    let parts = DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION;
    with_descriptor(|descriptor| {
        // SAFETY: handle and descriptor are valid until the call has returned.
        check(unsafe { SetKernelObjectSecurity(file.as_raw_handle(), parts, descriptor) })
    })
}

fn check(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn bytes_of(words: &[u64]) -> u32 {
    u32::try_from(size_of_val(words)).unwrap_or_default()
}
