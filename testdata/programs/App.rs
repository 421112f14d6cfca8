//! `App.pdb.gz` has the symbols of this program for Windows, whose functions are named as the compiler of NativeAOT names methods.
//! Rust nightly (2026-05-19) without its libraries, and the linker that comes with it:
//!
//! ```sh
//! rustc --target x86_64-pc-windows-msvc --emit obj --crate-type lib -C opt-level=0 -g App.rs -o App.obj
//! rust-lld -flavor link /nodefaultlib /entry:entry /subsystem:console /debug /pdb:App.pdb App.obj
//! ```
//!
//! `llvm-pdbutil dump -summary -publics -section-headers`: GUID 97A5F7FF-F55D-B3CE-4C4C-44205044422E, age 1, section 1 at 0x1000 with
//! 0x40 bytes, `App_N_Box_1<Int32>__Grind` at its start, `App_N_Program__Alpha` at 0x10, `entry` at 0x20.
#![feature(no_core, lang_items)]
#![no_core]
#![no_main]
#![allow(internal_features)]
#[lang = "pointee_sized"]
pub trait PointeeSized {}
#[lang = "meta_sized"]
pub trait MetaSized: PointeeSized {}
#[lang = "sized"]
pub trait Sized: MetaSized {}
#[lang = "copy"]
trait Copy {}
impl Copy for i32 {}
#[no_mangle]
#[inline(never)]
pub extern "C" fn App_N_Program__Alpha(x: i32) -> i32 {
    x
}
#[export_name = "App_N_Box_1<Int32>__Grind"]
#[inline(never)]
pub extern "C" fn grind(_x: i32, y: i32) -> i32 {
    y
}
#[no_mangle]
pub extern "C" fn entry() -> i32 {
    grind(App_N_Program__Alpha(3), 4)
}
