// SPDX-License-Identifier: GPL-2.0 OR MIT
/* kfdprio: instantiates the trace events of kfd_prio_events.h */
#include "kfd_prio_priv.h"

#define CREATE_TRACE_POINTS
#include "kfd_prio_events.h"

/*
 * Checks that no event has a hole between its members. The ring buffer does not clear its memory,
 * so a hole would pass older content to user space. The events are read again here, and the struct
 * of each must end at the same offset as a packed one.
 */
#undef CREATE_TRACE_POINTS
#define TRACE_HEADER_MULTI_READ
#define KFD_PRIO_EVENTS_CHECK

#undef TRACE_DEFINE_ENUM
#define TRACE_DEFINE_ENUM(a)

#undef TP_STRUCT__entry
#define TP_STRUCT__entry(args...) args

#undef __field
#define __field(type, item) type item;

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(call, proto, args, tstruct, assign, print)		\
	struct kfd_prio_packed_##call {						\
		struct trace_entry ent;						\
		tstruct								\
	} __packed;								\
	static_assert(offsetof(struct trace_event_raw_##call, __data) ==	\
		      sizeof(struct kfd_prio_packed_##call), #call " has a hole");

#undef DEFINE_EVENT
#define DEFINE_EVENT(template, name, proto, args)

#undef TRACE_EVENT
#define TRACE_EVENT(name, proto, args, tstruct, assign, print)			\
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),	\
			    PARAMS(assign), PARAMS(print))

#include "kfd_prio_events.h"
