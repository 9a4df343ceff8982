use inbox_sqlx::MessageKey;

#[derive(MessageKey)]
struct Id {
    source: String,
    id: u64,
}

fn main() {}
