#if !Server || !Sandbox
/// Stands in for the program where the package is built without the traits that it needs.
@main
struct MissingTraits {
    static func main() {
        print("CircleServer was built without the package traits that it needs: Server and Sandbox")
    }
}
#endif
