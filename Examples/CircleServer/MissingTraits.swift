#if !Server || !Sandbox
import ExampleServer

/// Stands in for the program where the package is built without the traits that it needs.
@main
struct MissingTraits {
    static func main() { endWithoutTraits("CircleServer") }
}
#endif
