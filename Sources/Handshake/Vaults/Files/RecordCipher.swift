import Crypto
import Synchronization

/// What seals and opens one record of a vault with one of its keys. It is derived once for all parts of the record.
package struct RecordCipher: Sendable {
    let name: RecordName
    let key: SymmetricKey
    /// What is authenticated with each part, before what else the part is bound to.
    let associated: [UInt8]
}

/// The cipher of one record, once it was derived. The calls of one hold share it, so it is a class.
package final class RecordCiphers: Sendable {
    private let known = Mutex<(key: Int64, cipher: RecordCipher)?>(nil)

    package init() {}

    /// - Parameters:
    ///   - key: the number of the key that `seal` is of.
    package func cipher(of name: RecordName, withKey key: Int64, _ seal: RecordSeal) -> RecordCipher {
        known.withLock { known in
            if let known, known.key == key, known.cipher.name == name { return known.cipher }
            let cipher = seal.cipher(of: name)
            known = (key, cipher)
            return cipher
        }
    }
}
