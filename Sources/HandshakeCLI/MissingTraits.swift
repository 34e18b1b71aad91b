#if !CommandLine
/// Stands in for the program where the package is built without the traits that it needs.
@main
struct MissingTraits {
    static func main() {
        print("handshake was built without the package traits that it needs: CommandLine")
    }
}
#endif
