// What the SwiftUI view uses of Apple's SwiftUI, declared as Apple declares it and without any behaviour.
// Isolation and sendability are part of the declaration: a check against anything else would prove nothing.
@_exported public import Foundation
@_exported public import FoundationNetworking

#if os(macOS)
@_exported public import AppKit
#else
@_exported public import UIKit
#endif

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
    public var body: Never { fatalError() }
}

@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: Scene {}

@resultBuilder public struct SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

public struct WindowGroup<Content: View>: Scene {
    nonisolated public init(@ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError() }
}

@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
    init()
}

extension App {
    public static func main() {}
}

@resultBuilder public struct ViewBuilder {
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<
        (repeat each Content)
    > {
        TupleView()
    }
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> ConditionalContent<First, Second> {
        .init()
    }
    public static func buildEither<First: View, Second: View>(second: Second) -> ConditionalContent<First, Second> {
        .init()
    }
}

public protocol Primitive: View where Body == Never {}
extension Primitive {
    public var body: Never { fatalError() }
}

extension Optional: View where Wrapped: View {
    public var body: Never { fatalError() }
}

public struct EmptyView: Primitive { nonisolated public init() {} }
// swift-format-ignore: UseSynthesizedInitializer
public struct TupleView<Content>: Primitive { nonisolated init() {} }
// swift-format-ignore: UseSynthesizedInitializer
public struct ConditionalContent<First: View, Second: View>: Primitive { nonisolated init() {} }

public struct HorizontalAlignment: Sendable {
    public static let center = HorizontalAlignment(), leading = HorizontalAlignment()
}
public struct VerticalAlignment: Sendable { public static let center = VerticalAlignment(), top = VerticalAlignment() }
public struct Alignment: Sendable {
    public static let center = Alignment(), leading = Alignment(), trailing = Alignment(), top = Alignment()
    public static let bottom = Alignment()
}
public enum TextAlignment: Sendable { case leading, center, trailing }

public struct VStack<Content: View>: Primitive {
    public init(alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content)
    {}
}
public struct HStack<Content: View>: Primitive {
    public init(alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
}
public struct ZStack<Content: View>: Primitive {
    public init(alignment: Alignment = .center, @ViewBuilder content: () -> Content) {}
}
public struct AnimationTimelineSchedule: TimelineSchedule, Sendable {
    public init(minimumInterval: Double? = nil, paused: Bool = false) {}
}
extension TimelineSchedule where Self == AnimationTimelineSchedule {
    public static func animation(minimumInterval: Double? = nil, paused: Bool = false) -> AnimationTimelineSchedule {
        AnimationTimelineSchedule(minimumInterval: minimumInterval, paused: paused)
    }
}
public struct NavigationStack<Content: View>: Primitive { public init(@ViewBuilder root: () -> Content) {} }
public struct NavigationLink<Label: View, Destination: View>: Primitive {
    public init(@ViewBuilder destination: () -> Destination, @ViewBuilder label: () -> Label) {}
}
public struct List<Content: View>: Primitive { public init(@ViewBuilder content: () -> Content) {} }
public struct Form<Content: View>: Primitive { public init(@ViewBuilder content: () -> Content) {} }
public struct Section<Content: View>: Primitive {
    public init(_ title: some StringProtocol, @ViewBuilder content: () -> Content) {}
}
public struct Picker<SelectionValue: Hashable, Content: View>: Primitive {
    public init(
        _ title: some StringProtocol, selection: Binding<SelectionValue>, @ViewBuilder content: () -> Content
    ) {}
}
public protocol PickerStyle {}
public struct InlinePickerStyle: PickerStyle { nonisolated public init() {} }
extension PickerStyle where Self == InlinePickerStyle {
    nonisolated public static var inline: InlinePickerStyle { InlinePickerStyle() }
}
public struct Slider: Primitive {
    public init<V: BinaryFloatingPoint>(value: Binding<V>, in bounds: ClosedRange<V>, step: V.Stride) {}
}
public struct LazyVStack<Content: View>: Primitive {
    public init(alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content)
    {}
}
public struct ScrollView<Content: View>: Primitive {
    public init(_ axes: Axis.Set = .vertical, @ViewBuilder content: () -> Content) {}
}
public struct UnitPoint: Hashable, Sendable { public static let center = UnitPoint() }
@MainActor public struct ScrollViewProxy {
    public func scrollTo<ID: Hashable>(_ id: ID, anchor: UnitPoint? = nil) {}
}
public struct ScrollViewReader<Content: View>: Primitive {
    public init(@ViewBuilder content: @escaping (ScrollViewProxy) -> Content) {}
}
public struct AnyView: Primitive { public init<V: View>(_ view: V) {} }
public struct Menu<Label: View, Content: View>: Primitive {
    public init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> Label) {}
}
public struct Link<Label: View>: Primitive {
    public init<S: StringProtocol>(_ title: S, destination: URL) where Label == Text {}
}
public protocol TimelineSchedule {}
public struct PeriodicTimelineSchedule: TimelineSchedule, Sendable {}
extension TimelineSchedule where Self == PeriodicTimelineSchedule {
    nonisolated public static func periodic(from startDate: Date, by interval: TimeInterval) -> PeriodicTimelineSchedule
    {
        PeriodicTimelineSchedule()
    }
}
public struct TimelineViewContext { public var date: Date { Date(timeIntervalSince1970: 0) } }
public struct TimelineView<Schedule: TimelineSchedule, Content: View>: Primitive {
    public init(_ schedule: Schedule, @ViewBuilder content: @escaping (TimelineViewContext) -> Content) {}
}
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: Primitive {
    public init(_ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content)
    {}
}
public struct GeometryProxy { public var size: CGSize { .zero } }
public struct GeometryReader<Content: View>: Primitive {
    public init(@ViewBuilder content: @escaping (GeometryProxy) -> Content) {}
}

public struct Text: Primitive, Equatable, Sendable {
    nonisolated public init(verbatim content: String) {}
    nonisolated public init(_ content: some StringProtocol) {}
    nonisolated public static func + (left: Text, right: Text) -> Text { left }
    nonisolated public func fontWeight(_ weight: Font.Weight?) -> Text { self }
    nonisolated public func underline(_ isActive: Bool = true) -> Text { self }
}
public struct Image: Primitive {
    public enum TemplateRenderingMode: Sendable { case template, original }
    public init(systemName: String) {}
    #if os(iOS)
    public init(uiImage: UIImage) {}
    #endif
    public enum Interpolation: Sendable { case none, low, medium, high }
    public func interpolation(_ interpolation: Interpolation) -> Image { self }
    public func renderingMode(_ renderingMode: TemplateRenderingMode?) -> Image { self }
    public func resizable() -> Image { self }
}
public enum AsyncImagePhase: Sendable {
    case empty
    case success(Image)
    case failure(any Error)
}
public struct Transaction { public init() {} }
public struct AsyncImage<Content: View>: Primitive {
    public init(
        url: URL?, scale: CGFloat = 1, transaction: Transaction = Transaction(),
        @ViewBuilder content: @escaping (AsyncImagePhase) -> Content
    ) {}
}
public struct Axis {
    public struct Set: OptionSet, Sendable {
        public let rawValue: Int8
        public init(rawValue: Int8) { self.rawValue = rawValue }
        public static let horizontal = Set(rawValue: 1), vertical = Set(rawValue: 2)
    }
}
public struct ViewThatFits<Content: View>: Primitive {
    public init(in axes: Axis.Set = [.horizontal, .vertical], @ViewBuilder content: () -> Content) {}
}
@MainActor @preconcurrency public protocol PreviewProvider {
    associatedtype Previews: View
    @ViewBuilder @MainActor @preconcurrency static var previews: Previews { get }
}
#if os(iOS)
public struct UIHostingConfiguration<Content: View, Background: View>: UIContentConfiguration {
    public init(@ViewBuilder content: () -> Content) where Background == EmptyView {}
    public func margins(_ edges: EdgeSet = .all, _ length: CGFloat) -> UIHostingConfiguration { self }
    public func makeContentView() -> any UIView & UIContentView { fatalError() }
    public func updated(for state: any UIConfigurationState) -> UIHostingConfiguration { self }
}
public struct TextInputAutocapitalization: Sendable {
    public static var never: TextInputAutocapitalization { TextInputAutocapitalization() }
}
extension View {
    nonisolated public func textContentType(_ textContentType: UITextContentType?) -> Modified { Modified() }
    nonisolated public func keyboardType(_ type: UIKeyboardType) -> Modified { Modified() }
    nonisolated public func textInputAutocapitalization(_ autocapitalization: TextInputAutocapitalization?) -> Modified
    {
        Modified()
    }
}
#endif
public struct Button<Label: View>: Primitive {
    public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {}
    public init(_ title: some StringProtocol, action: @escaping @MainActor () -> Void) where Label == Text {}
    public init(role: ButtonRole?, action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {}
}
public struct ButtonRole: Equatable, Sendable {
    public static let destructive = ButtonRole(), cancel = ButtonRole()
}
extension Button where Label == Text {
    public init(_ title: some StringProtocol, role: ButtonRole?, action: @escaping @MainActor () -> Void) {}
}
public struct ButtonStyleConfiguration {
    public struct Label: Primitive {}
    public let label: Label
    public let isPressed: Bool
}
@MainActor @preconcurrency public protocol ButtonStyle {
    associatedtype Body: View
    typealias Configuration = ButtonStyleConfiguration
    @ViewBuilder @MainActor @preconcurrency func makeBody(configuration: Configuration) -> Body
}
public struct ProgressView<Label: View, CurrentValueLabel: View>: Primitive {
    public init() where Label == EmptyView, CurrentValueLabel == EmptyView {}
    public init<V: BinaryFloatingPoint>(value: V?, total: V = 1, @ViewBuilder label: () -> Label)
    where CurrentValueLabel == EmptyView {}
}
public struct KeyEquivalent: Sendable { public static let escape = KeyEquivalent() }
public struct KeyPress: Sendable {
    public enum Result: Sendable { case handled, ignored }
}
public struct AccessibilityActionKind: Equatable, Sendable {
    public static let `default` = AccessibilityActionKind(), escape = AccessibilityActionKind()
}
public struct AccessibilityChildBehavior: Hashable, Sendable {
    public static let ignore = AccessibilityChildBehavior(), contain = AccessibilityChildBehavior()
    public static let combine = AccessibilityChildBehavior()
}
public struct Toggle<Label: View>: Primitive {
    public init(isOn: Binding<Bool>, @ViewBuilder label: () -> Label) {}
    public init(_ title: some StringProtocol, isOn: Binding<Bool>) where Label == Text {}
}
public struct AccessibilityTraits: SetAlgebra, Sendable {
    public static let isHeader = AccessibilityTraits(), isButton = AccessibilityTraits()
    public static let isSelected = AccessibilityTraits()
    public init() {}
    public func contains(_ member: AccessibilityTraits) -> Bool { false }
    public func union(_ other: AccessibilityTraits) -> AccessibilityTraits { self }
    public func intersection(_ other: AccessibilityTraits) -> AccessibilityTraits { self }
    public func symmetricDifference(_ other: AccessibilityTraits) -> AccessibilityTraits { self }
    public mutating func insert(_ newMember: AccessibilityTraits) -> (
        inserted: Bool, memberAfterInsert: AccessibilityTraits
    ) { (false, newMember) }
    public mutating func remove(_ member: AccessibilityTraits) -> AccessibilityTraits? { nil }
    public mutating func update(with newMember: AccessibilityTraits) -> AccessibilityTraits? { nil }
    public mutating func formUnion(_ other: AccessibilityTraits) {}
    public mutating func formIntersection(_ other: AccessibilityTraits) {}
    public mutating func formSymmetricDifference(_ other: AccessibilityTraits) {}
}
@MainActor @preconcurrency public protocol PrimitiveButtonStyle {}
public struct PlainButtonStyle: PrimitiveButtonStyle { nonisolated public init() {} }
extension PrimitiveButtonStyle where Self == PlainButtonStyle {
    nonisolated public static var plain: PlainButtonStyle { PlainButtonStyle() }
}
public struct SecureField<Label: View>: Primitive {
    public init<S: StringProtocol>(_ title: S, text: Binding<String>) where Label == Text {}
}
public struct TextField<Label: View>: Primitive {
    public init<S: StringProtocol>(_ title: S, text: Binding<String>) where Label == Text {}
}

public protocol VectorArithmetic: AdditiveArithmetic {
    mutating func scale(by rhs: Double)
    var magnitudeSquared: Double { get }
}
extension Double: VectorArithmetic {
    public mutating func scale(by rhs: Double) { self *= rhs }
    public var magnitudeSquared: Double { self * self }
}
public protocol Animatable {
    associatedtype AnimatableData: VectorArithmetic
    var animatableData: AnimatableData { get set }
}
public struct EmptyAnimatableData: VectorArithmetic {
    nonisolated public init() {}
    nonisolated public static var zero: EmptyAnimatableData { EmptyAnimatableData() }
    nonisolated public static func + (one: EmptyAnimatableData, two: EmptyAnimatableData) -> EmptyAnimatableData { one }
    nonisolated public static func - (one: EmptyAnimatableData, two: EmptyAnimatableData) -> EmptyAnimatableData { one }
    nonisolated public mutating func scale(by rhs: Double) {}
    nonisolated public var magnitudeSquared: Double { 0 }
}
extension Animatable where AnimatableData == EmptyAnimatableData {
    nonisolated public var animatableData: EmptyAnimatableData {
        get { EmptyAnimatableData() }
        set {}
    }
}

public protocol ShapeStyle: Sendable {}
public protocol Shape: Sendable, Animatable, View {
    nonisolated func path(in rect: CGRect) -> Path
}
extension Shape {
    public var body: Modified { Modified() }
    nonisolated public func fill<S: ShapeStyle>(_ content: S) -> FilledShape { FilledShape() }
    nonisolated public func stroke<S: ShapeStyle>(_ content: S, lineWidth: CGFloat = 1) -> FilledShape { FilledShape() }
    nonisolated public func stroke<S: ShapeStyle>(_ content: S, style: StrokeStyle) -> FilledShape { FilledShape() }
    nonisolated public func trim(from startFraction: CGFloat = 0, to endFraction: CGFloat = 1) -> some Shape { self }
}
public protocol InsettableShape: Shape {
    associatedtype InsetShape: InsettableShape
    nonisolated func inset(by amount: CGFloat) -> InsetShape
}
public struct Path: Equatable, Sendable {
    nonisolated public init() {}
    nonisolated public init(_ callback: (inout Path) -> Void) {}
    nonisolated public mutating func addLines(_ lines: [CGPoint]) {}
}
/// Of Core Graphics.
public enum CGLineCap: Int32, Sendable { case butt, round, square }
/// Of Core Graphics.
public enum CGLineJoin: Int32, Sendable { case miter, round, bevel }
public struct StrokeStyle: Equatable, Sendable {
    nonisolated public init(
        lineWidth: CGFloat = 1, lineCap: CGLineCap = .butt, lineJoin: CGLineJoin = .miter, miterLimit: CGFloat = 10,
        dash: [CGFloat] = [], dashPhase: CGFloat = 0
    ) {}
}
// swift-format-ignore: UseSynthesizedInitializer
public struct FilledShape: Primitive { nonisolated init() {} }
public struct Capsule: InsettableShape {
    nonisolated public init() {}
    nonisolated public func path(in rect: CGRect) -> Path { Path() }
    nonisolated public func inset(by amount: CGFloat) -> some InsettableShape { self }
}
public struct Circle: InsettableShape {
    nonisolated public init() {}
    nonisolated public func path(in rect: CGRect) -> Path { Path() }
    nonisolated public func inset(by amount: CGFloat) -> some InsettableShape { self }
}
public struct Rectangle: InsettableShape {
    nonisolated public init() {}
    nonisolated public func path(in rect: CGRect) -> Path { Path() }
    nonisolated public func inset(by amount: CGFloat) -> some InsettableShape { self }
}
public struct RoundedRectangle: InsettableShape {
    nonisolated public init(cornerRadius: CGFloat, style: RoundedCornerStyle = .continuous) {}
    nonisolated public func path(in rect: CGRect) -> Path { Path() }
    nonisolated public func inset(by amount: CGFloat) -> some InsettableShape { self }
}
public enum RoundedCornerStyle: Sendable { case circular, continuous }
public struct UnevenRoundedRectangle: InsettableShape {
    nonisolated public init(
        topLeadingRadius: CGFloat = 0, bottomLeadingRadius: CGFloat = 0, bottomTrailingRadius: CGFloat = 0,
        topTrailingRadius: CGFloat = 0, style: RoundedCornerStyle = .continuous
    ) {}
    nonisolated public func path(in rect: CGRect) -> Path { Path() }
    nonisolated public func inset(by amount: CGFloat) -> some InsettableShape { self }
}
public struct Color: ShapeStyle, Primitive {
    public enum RGBColorSpace: Sendable { case sRGB }
    nonisolated public init(_ colorSpace: RGBColorSpace, red: Double, green: Double, blue: Double, opacity: Double) {}
    nonisolated public static let green = Color(.sRGB, red: 0, green: 1, blue: 0, opacity: 1)
    nonisolated public init(hue: Double, saturation: Double, brightness: Double, opacity: Double = 1) {}
    public static let black = Color(.sRGB, red: 0, green: 0, blue: 0, opacity: 1)
    public static let white = Color(.sRGB, red: 1, green: 1, blue: 1, opacity: 1)
    public static let red = Color(.sRGB, red: 1, green: 0, blue: 0, opacity: 1)
    nonisolated public func opacity(_ opacity: Double) -> Color { self }
}
extension ShapeStyle where Self == Color { public static var green: Color { Color.green } }
public struct Font: Sendable {
    public struct Weight: Sendable {
        public static let heavy = Weight(), semibold = Weight(), regular = Weight()
    }
    public static let title3 = Font(), headline = Font(), footnote = Font()
    public enum TextStyle: Sendable { case body }
    public static func custom(_ name: String, fixedSize: CGFloat) -> Font { Font() }
    public static func system(size: CGFloat) -> Font { Font() }
}
public struct Animation: Sendable {
    public func delay(_ delay: TimeInterval) -> Animation { self }
    public static func easeOut(duration: TimeInterval) -> Animation { Animation() }
    public static func easeInOut(duration: TimeInterval) -> Animation { Animation() }
    public static func linear(duration: TimeInterval) -> Animation { Animation() }
    public static func interpolatingSpring(
        duration: TimeInterval = 0.5, bounce: Double = 0, initialVelocity: Double = 0
    ) -> Animation { Animation() }
}
extension Animation { public static let `default` = Animation() }
public func withAnimation<Result>(_ animation: Animation? = .default, _ body: () throws -> Result) rethrows -> Result {
    try body()
}
public struct AnimationCompletionCriteria: Hashable, Sendable {
    public static let logicallyComplete = AnimationCompletionCriteria(), removed = AnimationCompletionCriteria()
}
public func withAnimation<Result>(
    _ animation: Animation? = .default, completionCriteria: AnimationCompletionCriteria = .logicallyComplete,
    _ body: () throws -> Result, completion: @escaping () -> Void
) rethrows -> Result {
    try body()
}
public struct AnyTransition {
    public static var identity: AnyTransition { AnyTransition() }
    public static var opacity: AnyTransition { AnyTransition() }
    public static func offset(x: CGFloat = 0, y: CGFloat = 0) -> AnyTransition { AnyTransition() }
    public static func asymmetric(insertion: AnyTransition, removal: AnyTransition) -> AnyTransition { insertion }
    public func combined(with other: AnyTransition) -> AnyTransition { self }
    public func animation(_ animation: Animation?) -> AnyTransition { self }
}

@MainActor @preconcurrency public protocol Gesture {
    associatedtype Value
}
extension Gesture {
    public func updating<State>(
        _ state: GestureState<State>, body: @escaping (Value, inout State, inout Transaction) -> Void
    ) -> GestureStateGesture<Self, State> { GestureStateGesture() }
    public func onEnded(_ action: @escaping (Value) -> Void) -> _EndedGesture<Self> { _EndedGesture() }
}
extension Gesture where Value: Equatable {
    public func onChanged(_ action: @escaping (Value) -> Void) -> _ChangedGesture<Self> { _ChangedGesture() }
}
public struct GestureStateGesture<Base: Gesture, State>: Gesture { public typealias Value = Base.Value }
public struct _ChangedGesture<Content: Gesture>: Gesture { public typealias Value = Content.Value }
public struct _EndedGesture<Content: Gesture>: Gesture { public typealias Value = Content.Value }
@propertyWrapper public struct GestureState<Value> {
    public init(wrappedValue: Value) {}
    public var wrappedValue: Value { fatalError() }
    public var projectedValue: GestureState<Value> { self }
}
public struct GestureMask: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static let all = GestureMask(rawValue: 3)
}
public protocol CoordinateSpaceProtocol {}
public struct LocalCoordinateSpace: CoordinateSpaceProtocol { nonisolated public init() {} }
public struct NamedCoordinateSpace: CoordinateSpaceProtocol, Equatable {}
extension CoordinateSpaceProtocol where Self == LocalCoordinateSpace {
    nonisolated public static var local: LocalCoordinateSpace { LocalCoordinateSpace() }
}
extension CoordinateSpaceProtocol where Self == NamedCoordinateSpace {
    nonisolated public static func named(_ name: some Hashable) -> NamedCoordinateSpace { NamedCoordinateSpace() }
}
public struct DragGesture: Gesture {
    public struct Value: Equatable, Sendable {
        public var startLocation: CGPoint
        public var location: CGPoint
        public var velocity: CGSize { .zero }
    }
    nonisolated public init(minimumDistance: CGFloat = 10, coordinateSpace: some CoordinateSpaceProtocol = .local) {}
}

@propertyWrapper public struct State<Value> {
    public init(wrappedValue: Value) {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { fatalError() }
}
extension State where Value: ExpressibleByNilLiteral {
    public init() { self.init(wrappedValue: nil) }
}
@propertyWrapper @dynamicMemberLookup public struct Binding<Value> {
    public subscript<Member>(dynamicMember keyPath: WritableKeyPath<Value, Member>) -> Binding<Member> { fatalError() }
    public var projectedValue: Binding<Value> { self }
    @preconcurrency public init(
        get: @escaping @isolated(any) @Sendable () -> Value, set: @escaping @isolated(any) @Sendable (Value) -> Void
    ) {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
}
@propertyWrapper @dynamicMemberLookup public struct Bindable<Value: AnyObject> {
    public var wrappedValue: Value
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    public var projectedValue: Bindable<Value> { self }
    public subscript<Member>(dynamicMember keyPath: ReferenceWritableKeyPath<Value, Member>) -> Binding<Member> {
        fatalError()
    }
}
@propertyWrapper public struct FocusState<Value: Hashable> {
    public struct Binding {
        public var wrappedValue: Value {
            get { fatalError() }
            nonmutating set {}
        }
    }
    public init() where Value == Bool {}
    public init<T: Hashable>() where Value == T? {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding { fatalError() }
}
@propertyWrapper public struct AccessibilityFocusState<Value: Hashable> {
    public struct Binding {
        public var wrappedValue: Value {
            get { fatalError() }
            nonmutating set {}
        }
    }
    public init() where Value == Bool {}
    public init<T: Hashable>() where Value == T? {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding { fatalError() }
}
@propertyWrapper public struct Environment<Value> {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}
    public var wrappedValue: Value { fatalError() }
}
@propertyWrapper public struct ScaledMetric<Value: BinaryFloatingPoint> {
    public init(wrappedValue: Value, relativeTo textStyle: Font.TextStyle) { self.wrappedValue = wrappedValue }
    public let wrappedValue: Value
}
public struct Angle: Hashable, Sendable {
    nonisolated public static func degrees(_ degrees: Double) -> Angle { Angle() }
}
public enum ScenePhase: Comparable, Sendable { case background, inactive, active }
#if os(iOS)
@MainActor @preconcurrency public struct UIViewRepresentableContext<Representable: UIViewRepresentable> {}
@MainActor @preconcurrency public protocol UIViewRepresentable: View where Body == Never {
    associatedtype UIViewType: UIView
    typealias Context = UIViewRepresentableContext<Self>
    @MainActor @preconcurrency func makeUIView(context: Context) -> UIViewType
    @MainActor @preconcurrency func updateUIView(_ uiView: UIViewType, context: Context)
}
extension UIViewRepresentable { public var body: Never { fatalError() } }
@MainActor @preconcurrency
public struct UIGestureRecognizerRepresentableContext<Representable: UIGestureRecognizerRepresentable> {
    public let coordinator: Representable.Coordinator
    public let converter: UIGestureRecognizerRepresentableCoordinateSpaceConverter
}
public struct UIGestureRecognizerRepresentableCoordinateSpaceConverter {
    public func location(in coordinateSpace: some CoordinateSpaceProtocol) -> CGPoint { .zero }
    public func translation(in coordinateSpace: some CoordinateSpaceProtocol) -> CGPoint? { nil }
    public func velocity(in coordinateSpace: some CoordinateSpaceProtocol) -> CGPoint? { nil }
}
@MainActor @preconcurrency public protocol UIGestureRecognizerRepresentable {
    associatedtype UIGestureRecognizerType: UIGestureRecognizer
    associatedtype Coordinator = Void
    typealias Context = UIGestureRecognizerRepresentableContext<Self>
    typealias CoordinateSpaceConverter = UIGestureRecognizerRepresentableCoordinateSpaceConverter
    @MainActor @preconcurrency func makeCoordinator(converter: CoordinateSpaceConverter) -> Coordinator
    @MainActor @preconcurrency func makeUIGestureRecognizer(context: Context) -> UIGestureRecognizerType
    @MainActor @preconcurrency func handleUIGestureRecognizerAction(
        _ recognizer: UIGestureRecognizerType, context: Context)
}
extension UIGestureRecognizerRepresentable where Coordinator == Void {
    @MainActor @preconcurrency public func makeCoordinator(converter: CoordinateSpaceConverter) {}
}
@MainActor @preconcurrency
public struct UIViewControllerRepresentableContext<
    Representable: UIViewControllerRepresentable
> {
    public var coordinator: Representable.Coordinator { fatalError() }
}
@MainActor @preconcurrency public protocol UIViewControllerRepresentable: View where Body == Never {
    associatedtype UIViewControllerType: UIViewController
    associatedtype Coordinator = Void
    typealias Context = UIViewControllerRepresentableContext<Self>
    @MainActor @preconcurrency func makeUIViewController(context: Context) -> UIViewControllerType
    @MainActor @preconcurrency func updateUIViewController(_ uiViewController: UIViewControllerType, context: Context)
    @MainActor @preconcurrency static func dismantleUIViewController(
        _ uiViewController: UIViewControllerType, coordinator: Coordinator)
    @MainActor @preconcurrency func makeCoordinator() -> Coordinator
}
extension UIViewControllerRepresentable {
    public var body: Never { fatalError() }
    @MainActor @preconcurrency public static func dismantleUIViewController(
        _ uiViewController: UIViewControllerType, coordinator: Coordinator
    ) {}
}
extension UIViewControllerRepresentable where Coordinator == Void {
    @MainActor @preconcurrency public func makeCoordinator() {}
}
#elseif os(macOS)
@MainActor @preconcurrency public struct NSViewRepresentableContext<Representable: NSViewRepresentable> {}
@MainActor @preconcurrency public protocol NSViewRepresentable: View where Body == Never {
    associatedtype NSViewType: NSView
    typealias Context = NSViewRepresentableContext<Self>
    @MainActor @preconcurrency func makeNSView(context: Context) -> NSViewType
    @MainActor @preconcurrency func updateNSView(_ nsView: NSViewType, context: Context)
}
extension NSViewRepresentable { public var body: Never { fatalError() } }
#endif
public enum ColorScheme: Sendable { case light, dark }
public enum LayoutDirection: Sendable { case leftToRight, rightToLeft }
public struct DismissAction: Sendable { @MainActor public func callAsFunction() {} }
public struct OpenURLAction: Sendable { @MainActor public func callAsFunction(_ url: URL) {} }
public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}
public struct EnvironmentValues: Sendable {
    public var colorScheme: ColorScheme {
        get { .light }
        set {}
    }
    public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
        get { K.defaultValue }
        set {}
    }
    public var layoutDirection: LayoutDirection {
        get { .leftToRight }
        set {}
    }
    public var accessibilityReduceMotion: Bool { false }
    public var dismiss: DismissAction { DismissAction() }
    public var isEnabled: Bool { true }
    public var scenePhase: ScenePhase { .active }
    public var openURL: OpenURLAction { OpenURLAction() }
}
public enum SubmitLabel: Sendable { case done, next }
public struct EdgeSet: OptionSet, Sendable {
    public let rawValue: Int8
    public init(rawValue: Int8) { self.rawValue = rawValue }
    public static let all = EdgeSet(rawValue: 15), horizontal = EdgeSet(rawValue: 10), vertical = EdgeSet(rawValue: 5)
    public static let leading = EdgeSet(rawValue: 2), top = EdgeSet(rawValue: 1), trailing = EdgeSet(rawValue: 8)
}

@MainActor @preconcurrency public protocol ViewModifier {
    associatedtype Body: View
    typealias Content = ModifierContent<Self>
    @ViewBuilder @MainActor @preconcurrency func body(content: Content) -> Body
}
public struct ModifierContent<Modifier>: Primitive {}
// swift-format-ignore: UseSynthesizedInitializer
public struct Modified: Primitive { nonisolated init() {} }

extension View {
    nonisolated public func modifier<T: ViewModifier>(_ modifier: T) -> Modified { Modified() }
    nonisolated public func frame(width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center)
        -> Modified
    { Modified() }
    nonisolated public func frame(
        minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil,
        idealHeight: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = .center
    ) -> Modified { Modified() }
    nonisolated public func padding(_ length: CGFloat) -> Modified { Modified() }
    nonisolated public func padding(_ edges: EdgeSet = .all, _ length: CGFloat? = nil) -> Modified { Modified() }
    nonisolated public func offset(x: CGFloat = 0, y: CGFloat = 0) -> Modified { Modified() }
    nonisolated public func opacity(_ opacity: Double) -> Modified { Modified() }
    nonisolated public func navigationTitle(_ title: some StringProtocol) -> Modified { Modified() }
    nonisolated public func tag<V: Hashable>(_ tag: V) -> Modified { Modified() }
    nonisolated public func pickerStyle<S: PickerStyle>(_ style: S) -> Modified { Modified() }
    nonisolated public func autocorrectionDisabled(_ disable: Bool = true) -> Modified { Modified() }
    nonisolated public func alert<A: View>(
        _ title: some StringProtocol, isPresented: Binding<Bool>, @ViewBuilder actions: () -> A
    ) -> Modified { Modified() }
    nonisolated public func rotationEffect(_ angle: Angle, anchor: UnitPoint = .center) -> Modified { Modified() }
    nonisolated public func refreshable(action: @escaping @Sendable () async -> Void) -> Modified { Modified() }
    nonisolated public func onDisappear(perform action: (() -> Void)? = nil) -> Modified { Modified() }
    nonisolated public func onTapGesture(count: Int = 1, perform action: @escaping () -> Void) -> Modified {
        Modified()
    }
    #if os(iOS)
    nonisolated public func gesture(_ representable: some UIGestureRecognizerRepresentable) -> Modified { Modified() }
    #endif
    nonisolated public func accessibilityAddTraits(_ traits: AccessibilityTraits) -> Modified { Modified() }
    nonisolated public func accessibilityAction(named name: Text, _ handler: @escaping () -> Void) -> Modified {
        Modified()
    }
    nonisolated public func buttonStyle<S: PrimitiveButtonStyle>(_ style: S) -> Modified { Modified() }
    nonisolated public func scaledToFit() -> Modified { Modified() }
    nonisolated public func shadow(color: Color, radius: CGFloat, x: CGFloat = 0, y: CGFloat = 0) -> Modified {
        Modified()
    }
    nonisolated public func background<S: ShapeStyle>(_ style: S) -> Modified { Modified() }
    nonisolated public func background<S: ShapeStyle, T: Shape>(_ style: S, in shape: T) -> Modified { Modified() }
    nonisolated public func overlay<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> Modified
    { Modified() }
    nonisolated public func clipShape<S: Shape>(_ shape: S) -> Modified { Modified() }
    nonisolated public func foregroundStyle<S: ShapeStyle>(_ style: S) -> Modified { Modified() }
    nonisolated public func font(_ font: Font?) -> Modified { Modified() }
    nonisolated public func multilineTextAlignment(_ alignment: TextAlignment) -> Modified { Modified() }
    nonisolated public func lineLimit(_ number: Int?) -> Modified { Modified() }
    nonisolated public func minimumScaleFactor(_ factor: CGFloat) -> Modified { Modified() }
    nonisolated public func textCase(_ textCase: TextCase?) -> Modified { Modified() }
    nonisolated public func disabled(_ disabled: Bool) -> Modified { Modified() }
    nonisolated public func allowsHitTesting(_ enabled: Bool) -> Modified { Modified() }
    nonisolated public func onChange<V: Equatable>(
        of value: V, initial: Bool = false, _ action: @escaping (_ oldValue: V, _ newValue: V) -> Void
    ) -> Modified { Modified() }
    nonisolated public func onChange<V: Equatable>(
        of value: V, initial: Bool = false, _ action: @escaping () -> Void
    ) -> Modified { Modified() }
    nonisolated public func task(
        priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
    ) -> Modified { Modified() }
    nonisolated public func task<T: Equatable>(
        id value: T, priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
    ) -> Modified { Modified() }
    nonisolated public func id<ID: Hashable>(_ id: ID) -> Modified { Modified() }
    nonisolated public func hidden() -> Modified { Modified() }
    nonisolated public func fixedSize(horizontal: Bool, vertical: Bool) -> Modified { Modified() }
    nonisolated public func onOpenURL(perform action: @escaping (URL) -> Void) -> Modified { Modified() }
    nonisolated public func onAppear(perform action: (() -> Void)? = nil) -> Modified { Modified() }
    nonisolated public func coordinateSpace(_ name: NamedCoordinateSpace) -> Modified { Modified() }
    nonisolated public func highPriorityGesture<T: Gesture>(_ gesture: T, including mask: GestureMask = .all)
        -> Modified
    { Modified() }
    nonisolated public func buttonStyle<S: ButtonStyle>(_ style: S) -> Modified { Modified() }
    nonisolated public func contentShape<S: Shape>(_ shape: S, eoFill: Bool = false) -> Modified { Modified() }
    nonisolated public func scaleEffect(_ s: CGFloat) -> Modified { Modified() }
    nonisolated public func position(x: CGFloat = 0, y: CGFloat = 0) -> Modified { Modified() }
    @preconcurrency nonisolated public func transition(_ t: AnyTransition) -> Modified { Modified() }
    nonisolated public func environment<V>(_ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> Modified {
        Modified()
    }
    nonisolated public func focused(_ condition: FocusState<Bool>.Binding) -> Modified { Modified() }
    nonisolated public func focused<Value: Hashable>(_ binding: FocusState<Value>.Binding, equals value: Value)
        -> Modified
    { Modified() }
    nonisolated public func accessibilityFocused<Value: Hashable>(
        _ binding: AccessibilityFocusState<Value>.Binding, equals value: Value
    ) -> Modified { Modified() }
    nonisolated public func interactiveDismissDisabled(_ isDisabled: Bool = true) -> Modified { Modified() }
    nonisolated public func onKeyPress(_ key: KeyEquivalent, action: @escaping () -> KeyPress.Result) -> Modified {
        Modified()
    }
    nonisolated public func accessibilityElement(children: AccessibilityChildBehavior = .ignore) -> Modified {
        Modified()
    }
    nonisolated public func accessibilityAction(
        _ actionKind: AccessibilityActionKind = .default, _ handler: @escaping () -> Void
    ) -> Modified { Modified() }
    nonisolated public func accessibilityHint(_ hint: Text) -> Modified { Modified() }
    nonisolated public func submitLabel(_ label: SubmitLabel) -> Modified { Modified() }
    nonisolated public func onSubmit(_ action: @escaping () -> Void) -> Modified { Modified() }
    nonisolated public func simultaneousGesture<T: Gesture>(_ gesture: T) -> Modified { Modified() }
    nonisolated public func animation<V: Equatable>(_ animation: Animation?, value: V) -> Modified { Modified() }
    nonisolated public func phaseAnimator<Phase: Equatable, V: View>(
        _ phases: some Sequence<Phase>, @ViewBuilder content: @escaping (Modified, Phase) -> V,
        animation: @escaping (Phase) -> Animation?
    ) -> Modified { Modified() }
    nonisolated public func sheet<Content: View>(
        isPresented: Binding<Bool>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping () -> Content
    ) -> Modified { Modified() }
    nonisolated public func accessibilityLabel(_ label: Text) -> Modified { Modified() }
    nonisolated public func accessibilityHidden(_ hidden: Bool) -> Modified { Modified() }
    nonisolated public func accessibilityRepresentation<V: View>(@ViewBuilder representation: () -> V) -> Modified {
        Modified()
    }
}
extension Text { public enum Case: Sendable { case uppercase, lowercase } }
public typealias TextCase = Text.Case
