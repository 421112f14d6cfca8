//! Accounts of all open activities, by number.

use super::account::Account;

/// Number of an account. A closed account's place is used again, under another number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AccountNumber {
    place: u32,
    /// Number of accounts that had the place before.
    turn: u32,
}

/// Accounts by number. Places of closed accounts are used again with their buffers, so that most
/// activities take no memory of their own.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    places: Vec<(u32, Account)>,
    free: Vec<u32>,
}

impl Accounts {
    /// Opens an account. Its members are those of a new one.
    pub(super) fn open(&mut self) -> (AccountNumber, Option<&mut Account>) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push((0, Account::closed()));
            u32::try_from(self.places.len().saturating_sub(1)).unwrap_or(u32::MAX)
        });
        let row = self.places.get_mut(place as usize);
        let turn = row.as_ref().map_or(0, |(turn, _)| *turn);
        (AccountNumber { place, turn }, row.map(|(_, account)| account))
    }

    #[inline]
    pub(super) fn get(&self, number: AccountNumber) -> Option<&Account> {
        let (turn, account) = self.places.get(number.place as usize)?;
        (*turn == number.turn).then_some(account)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: AccountNumber) -> Option<&mut Account> {
        let (turn, account) = self.places.get_mut(number.place as usize)?;
        (*turn == number.turn).then_some(account)
    }

    /// Closes an account and returns it. Its number finds nothing from now on, and its place is used
    /// again by the next account.
    pub(super) fn close(&mut self, number: AccountNumber) -> Option<&mut Account> {
        let (turn, account) = self.places.get_mut(number.place as usize)?;
        if *turn != number.turn {
            return None;
        }
        *turn = turn.wrapping_add(1);
        self.free.push(number.place);
        Some(account)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_closed_account_finds_no_other_account() {
        let mut accounts = Accounts::default();
        let [one, other] = [accounts.open().0, accounts.open().0];
        assert!(accounts.close(one).is_some() && accounts.close(one).is_none());
        let next = accounts.open().0;
        assert!(accounts.get(next).is_some() && accounts.get(other).is_some());
        assert!(accounts.get(one).is_none() && accounts.get_mut(one).is_none());
        assert_eq!(accounts.places.len(), 2);
    }
}
