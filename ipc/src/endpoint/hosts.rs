//! The addresses of a host.
//!
//! A program that has glibc inside cannot ask the system: glibc would load the libraries that
//! `/etc/nsswitch.conf` names, which are made for another version of it, or are not there. Such a
//! program knows the names of `/etc/hosts`.

use std::io;
use std::net::{IpAddr, SocketAddr};

/// Returns the addresses of a host, which is an address or a name.
pub(super) fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    look_up(host, port)
}

#[cfg(not(all(target_env = "gnu", target_os = "linux", target_feature = "crt-static")))]
fn look_up(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    use std::net::ToSocketAddrs as _;
    Ok((host, port).to_socket_addrs()?.collect())
}

#[cfg(all(target_env = "gnu", target_os = "linux", target_feature = "crt-static"))]
fn look_up(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    use std::fs::File;
    use std::io::Read as _;

    // A system without names has no such file.
    let mut table = Vec::new();
    if let Ok(file) = File::open("/etc/hosts") {
        file.take(MAX_TABLE_BYTES).read_to_end(&mut table)?;
    }
    let addresses = named(&String::from_utf8_lossy(&table), host);
    if addresses.is_empty() {
        let reason = "/etc/hosts does not have this name, and a static program asks no name server: use the address";
        return Err(io::Error::new(io::ErrorKind::NotFound, reason));
    }
    Ok(addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect())
}

/// Bounds how much of `/etc/hosts` is read.
#[cfg(all(target_env = "gnu", target_os = "linux", target_feature = "crt-static"))]
const MAX_TABLE_BYTES: u64 = 16 << 20;

/// Returns the addresses that a table in the form of `/etc/hosts` has for a name; `localhost` needs
/// no line.
#[cfg(any(test, all(target_env = "gnu", target_os = "linux", target_feature = "crt-static")))]
fn named(table: &str, name: &str) -> Vec<IpAddr> {
    use std::net::{Ipv4Addr, Ipv6Addr};

    let lines = table.lines().map(|line| line.split_once('#').map_or(line, |(line, _)| line));
    let mut addresses: Vec<IpAddr> = lines
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let address = words.next()?.parse().ok()?;
            words.any(|word| word.eq_ignore_ascii_case(name)).then_some(address)
        })
        .collect();
    if addresses.is_empty() && name.eq_ignore_ascii_case("localhost") {
        addresses = vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    }
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_its_own_host() {
        for host in ["10.1.2.3", "::1"] {
            let addresses = resolve(host, 9000).unwrap();
            assert_eq!(addresses, [SocketAddr::new(host.parse().unwrap(), 9000)]);
        }
    }

    #[test]
    fn localhost_is_this_machine() {
        let addresses = resolve("localhost", 9000).unwrap();
        assert!(addresses.iter().all(|address| address.ip().is_loopback()), "{addresses:?}");
        assert!(!addresses.is_empty());
    }

    #[test]
    fn names_of_a_table_are_words_after_an_address_and_before_a_comment() {
        let table = "# names\n127.0.0.1\tlocalhost\n10.0.0.5 shop.example shop # old\r\n\
                     ::5 SHOP\nnothing shop\n10.0.0.6 # shop\n\n10.0.0.7";
        let found = |name| named(table, name).iter().map(IpAddr::to_string).collect::<Vec<_>>();
        assert_eq!(found("shop"), ["10.0.0.5", "::5"]);
        assert_eq!(found("shop.example"), ["10.0.0.5"]);
        assert_eq!(found("localhost"), ["127.0.0.1"]);
        for name in ["old", "#", "10.0.0.7", "", "sho"] {
            assert!(found(name).is_empty(), "{name}");
        }
        assert_eq!(named("", "LocalHost").len(), 2);
    }

    #[cfg(all(target_env = "gnu", target_os = "linux", target_feature = "crt-static"))]
    #[test]
    fn a_static_program_says_that_it_knows_only_the_names_of_a_file() {
        let error = resolve("no-such-host.invalid", 9000).unwrap_err().to_string();
        assert!(error.contains("use the address"), "{error}");
    }
}
