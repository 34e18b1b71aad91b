// What KeychainVault uses of Security and CoreFoundation, declared as their interfaces do (Xcode 26).
public import Foundation

public typealias OSStatus = Int32
public typealias CFTypeRef = AnyObject
public typealias CFDictionary = NSDictionary
public typealias CFString = NSString

public let kSecClass = NSString("class")
public let kSecClassGenericPassword = NSString("genp")
public let kSecAttrService = NSString("svce")
public let kSecAttrAccount = NSString("acct")
public let kSecAttrAccessGroup = NSString("agrp")
public let kSecAttrLabel = NSString("labl")
public let kSecAttrSynchronizable = NSString("sync")
public let kSecAttrAccessible = NSString("pdmn")
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = NSString("cku")
public let kSecUseDataProtectionKeychain = NSString("nleg")
public let kSecReturnData = NSString("r_Data")
public let kSecMatchLimit = NSString("m_Limit")
public let kSecMatchLimitOne = NSString("m_LimitOne")
public let kSecValueData = NSString("v_Data")

public let errSecSuccess: OSStatus = 0
public let errSecItemNotFound: OSStatus = -25300
public let errSecDuplicateItem: OSStatus = -25299
public let errSecInteractionNotAllowed: OSStatus = -25308
public let errSecMissingEntitlement: OSStatus = -34018

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { 0 }
