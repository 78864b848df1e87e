//! How a call of a program waits.

use std::sync::OnceLock;
use std::time::Duration;

use proptest::prelude::*;

use crate::common::Wait;

/// One of the many ways to say how long, by a number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    Untimed,
    /// So long that it is as good as that.
    Endless(u8),
    /// Over before it begins.
    Passed(u8),
    /// Over soon: there may be a sleep.
    Short(u8),
}

pub(crate) fn ways() -> impl Strategy<Value = Way> {
    prop_oneof![
        2 => Just(Way::Untimed),
        1 => any::<u8>().prop_map(Way::Endless),
        4 => any::<u8>().prop_map(Way::Passed),
        1 => any::<u8>().prop_map(Way::Short),
    ]
}

impl Way {
    /// For a call that comes through.
    pub(crate) fn any(self) -> Wait {
        static ALL: OnceLock<[Vec<Wait>; 2]> = OnceLock::new();

        // They stay what they are as time goes by.
        let [passed, endless] = ALL.get_or_init(|| [Wait::passed(), Wait::endless()]);
        let pick = |list: &[Wait], number: u8| list[usize::from(number) % list.len()];
        match self {
            Way::Untimed => Wait::Untimed,
            Way::Endless(number) => pick(endless, number),
            Way::Passed(number) => pick(passed, number),
            Way::Short(number) => pick(&Wait::within(Duration::from_micros(u64::from(number) / 8)), number),
        }
    }

    /// For a call that may have nothing to wait for: it ends by itself.
    pub(crate) fn impatient(self) -> Wait {
        match self {
            Way::Untimed => Wait::Try,
            Way::Endless(number) => Way::Passed(number).any(),
            way => way.any(),
        }
    }

    /// For a call of which it is known whether what it waits for is there.
    pub(crate) fn given(self, is_there: bool) -> Wait {
        if is_there { self.any() } else { self.impatient() }
    }

    /// Whether it ends by itself.
    pub(crate) fn may_time_out(self) -> bool {
        matches!(self, Way::Passed(_) | Way::Short(_))
    }
}
