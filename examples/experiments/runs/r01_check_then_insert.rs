//! Run 1: looking first does not help when two look at the same time.

use super::{BALANCE, CREDIT, MARK, Run, SEEN, begin_after_looking, look_together};
use crate::{bench::Bench, lab::Lab};

pub(crate) const RUN: Run = Run {
    number: 1,
    title: "check-then-insert, without a unique index",
    about: "Two consumers get the same message at the same moment: pay 10 into account 1.\n\
            Each looks whether it was handled before, and if not, handles it.",
};

pub(crate) async fn run<DB: Lab>(bench: &mut Bench<DB>) -> anyhow::Result<()> {
    let mut a = bench.consumer("A").await?;
    let mut b = bench.consumer("B").await?;

    let both_saw_nothing = look_together(&mut a, &mut b).await?;
    for consumer in [&mut a, &mut b] {
        begin_after_looking(consumer).await?;
        for sql in [MARK, CREDIT, "commit"] {
            consumer.run(sql).await?;
        }
    }
    let (balance, seen) = (bench.look(BALANCE).await?, bench.look(SEEN).await?);

    bench.claim(both_saw_nothing, "both looked before either had written");
    bench.claim(
        balance == 20 && seen == 2,
        "one message, two credits: 10 were owed, 20 are there",
    );
    Ok(())
}
