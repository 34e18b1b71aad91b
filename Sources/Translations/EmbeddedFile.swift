package import HandshakeEmbeddedFiles

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension Data {
    /// A copy of the bytes of an embedded file.
    package init(_ file: EmbeddedFile) {
        self.init(bytes: file.bytes, count: file.count)
    }
}
