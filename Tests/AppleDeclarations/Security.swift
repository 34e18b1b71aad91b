// What KeychainVault and ClientCertificate use of Security and CoreFoundation, declared as their interfaces do (Xcode 26).
public import Foundation
public import FoundationNetworking

public typealias OSStatus = Int32
public typealias CFTypeRef = AnyObject
public typealias CFDictionary = NSDictionary
public typealias CFString = NSString

nonisolated(unsafe) public let kSecClass = NSString("class")
nonisolated(unsafe) public let kSecClassGenericPassword = NSString("genp")
nonisolated(unsafe) public let kSecAttrService = NSString("svce")
nonisolated(unsafe) public let kSecAttrAccount = NSString("acct")
nonisolated(unsafe) public let kSecAttrAccessGroup = NSString("agrp")
nonisolated(unsafe) public let kSecAttrLabel = NSString("labl")
nonisolated(unsafe) public let kSecAttrSynchronizable = NSString("sync")
nonisolated(unsafe) public let kSecAttrAccessible = NSString("pdmn")
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = NSString("cku")
nonisolated(unsafe) public let kSecUseDataProtectionKeychain = NSString("nleg")
nonisolated(unsafe) public let kSecReturnData = NSString("r_Data")
nonisolated(unsafe) public let kSecMatchLimit = NSString("m_Limit")
nonisolated(unsafe) public let kSecMatchLimitOne = NSString("m_LimitOne")
nonisolated(unsafe) public let kSecValueData = NSString("v_Data")

public final class SecCertificate {}
public final class SecIdentity {}
public typealias CFData = NSData

// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecIdentityCopyCertificate(
    _ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus { 0 }
// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { NSData() }

extension URLCredential {
    public convenience init(
        identity: SecIdentity, certificates certArray: [Any]?, persistence: URLCredential.Persistence
    ) { self.init(user: "", password: "", persistence: persistence) }
}

public let errSecSuccess: OSStatus = 0
public let errSecItemNotFound: OSStatus = -25300
public let errSecDuplicateItem: OSStatus = -25299
public let errSecInteractionNotAllowed: OSStatus = -25308
public let errSecMissingEntitlement: OSStatus = -34018

// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { 0 }
