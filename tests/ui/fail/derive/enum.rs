use inbox_sqlx::MessageKey;

#[derive(MessageKey)]
enum Id {
    Order(u64),
    Invoice(u64),
}

fn main() {}
