//! Rebuild when a migration is added: the files are embedded in the library.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
