@main
struct GroceryExpress {
    static func main() async throws {}
}
