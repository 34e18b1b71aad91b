#if !Server || !Sandbox
import Foundation

/// Says how to build an example that was built without the package traits that it needs, and ends it.
package func endWithoutTraits(_ name: String) -> Never {
    let message = """
        \(name) was built without the package traits that it needs: Server and Sandbox. They are on by default: swift run \(name)
        With other traits, name Everything too, for example: swift run --traits SQLite,Everything \(name)

        """
    FileHandle.standardError.write(Data(message.utf8))
    exit(1)
}
#endif
