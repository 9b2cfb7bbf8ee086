/// Reads and writes the value of a key in `CameraSettings`.
package struct CameraPlace<Value: Sendable & Hashable>: Sendable {
    let get: @Sendable (CameraSettings) -> Value?
    let set: @Sendable (Value?, inout CameraSettings) -> Void
    let defaultValue: Value?

    package init(_ path: any WritableKeyPath<CameraSettings, Value?> & Sendable) {
        get = { $0[keyPath: path] }
        set = { $1[keyPath: path] = $0 }
        defaultValue = nil
    }

    package init(_ path: any WritableKeyPath<CameraSettings, Setting<Value>> & Sendable) {
        get = { $0[keyPath: path].given }
        set = { $1[keyPath: path].given = $0 }
        defaultValue = CameraSettings()[keyPath: path].defaultValue
    }
}
