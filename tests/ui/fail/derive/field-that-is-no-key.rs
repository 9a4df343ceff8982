use inbox_sqlx::MessageKey;

#[derive(MessageKey)]
struct Id(Option<String>);

fn main() {}
