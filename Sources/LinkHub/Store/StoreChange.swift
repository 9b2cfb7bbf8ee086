import IoTCore
import IoTLink
import ThingModel

/// A change of one row.
enum StoreChange: Sendable, Hashable {
    case putUser(AccessID, UserRecord)
    /// Also removes its bindings.
    case removeUser(AccessID)
    case putDevice(DeviceID, DeviceRecord)
    /// Also removes its bindings, model, recordings and events.
    case removeDevice(DeviceID)
    case bind(AccessID, DeviceID, Binding)
    case unbind(AccessID, DeviceID)
    case addToken(TokenRecord)
    case removeToken(String)
    case addKey(KeyRecord)
    case removeKey(String)
    /// The credential's last use: s since 1970.
    case use(ShownCredential, at: Int64)
    case putEnrolment(EnrolmentRecord)
    case removeEnrolment(String)
    case putRecordings(DeviceID, RecordingRecord)
    case putRelease(ReleaseRecord)
    case removeRelease(String)
    case putRegistration(Principal, Registration)
    case removeRegistration(Principal)
    case putCall(OpenCall)
    case removeCall(OpenCall.Key)
    /// A new or changed schema.
    case putModel(DeviceID, schema: String, version: Int64)
    /// The document's version. Only the last one of a transaction is written.
    case modelVersion(DeviceID, Int64)
    case putProperty(DeviceID, StoredProperty)
    /// A new value. The version that the device has applied stays the same.
    case writeProperty(DeviceID, PropertyChange)
    /// The version that the device has applied, unless a newer one is known.
    case applied(DeviceID, path: String, version: Int64)
    case removeProperty(DeviceID, path: String)
    /// `of`: the principal in whose name it was asked.
    case answer(number: Int64, AnswerIndex.Key, RequestContent, of: Principal, at: Int64, reply: [UInt8])
    case forgetAnswers([ClosedRange<Int64>])
    case addEvent(EventRecord)
    case deleteEvents([Int64])
    /// Deletes the oldest events of a device.
    case trimEvents(DeviceID, count: Int)
}
