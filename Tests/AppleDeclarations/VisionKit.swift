// What a sample's scanner uses of Apple's VisionKit, declared as Apple declares it and without any behaviour.
public import Foundation
public import UIKit
public import Vision

@MainActor public enum RecognizedItem: Identifiable, Sendable {
    @MainActor public struct Barcode: Identifiable, Sendable {
        nonisolated public var id: UUID { UUID() }
        public var payloadStringValue: String? { nil }
    }
    case barcode(Barcode)
    nonisolated public var id: UUID { UUID() }
}

@MainActor public final class DataScannerViewController: UIViewController {
    public struct RecognizedDataType: Hashable, Sendable {
        public static func barcode(symbologies: [VNBarcodeSymbology] = []) -> RecognizedDataType {
            RecognizedDataType()
        }
    }
    public static var isSupported: Bool { false }
    public static var isAvailable: Bool { false }
    public init(recognizedDataTypes: Set<RecognizedDataType>) {}
    public func startScanning() throws {}
    public func stopScanning() {}
    public var recognizedItems: AsyncStream<[RecognizedItem]> { AsyncStream { $0.finish() } }
}
