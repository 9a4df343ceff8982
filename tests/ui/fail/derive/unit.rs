use inbox_sqlx::MessageKey;

#[derive(MessageKey)]
struct Id;

fn main() {}
