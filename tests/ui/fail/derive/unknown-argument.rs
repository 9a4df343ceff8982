use inbox_sqlx::MessageKey;

#[derive(MessageKey)]
#[message_key(skip)]
struct Id(u64);

fn main() {}
