/* A small writer of JSON: one object a line. */
#ifndef TSW_JSON_H
#define TSW_JSON_H

#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *f;
	int comma; /* something stands before the next item */
};

void json_begin(struct json *j, FILE *f);
void json_end(struct json *j); /* and a newline */

/* Members of the innermost open object. */
void json_text(struct json *j, const char *key, const char *value);
void json_whole(struct json *j, const char *key, uint64_t value);
void json_real(struct json *j, const char *key, double value); /* null if not finite */
void json_null(struct json *j, const char *key);
void json_bool(struct json *j, const char *key, int value);
void json_hex(struct json *j, const char *key, uint64_t value); /* a string of 16 hex digits */

/* "key": [ { members }, { members } ] */
void json_list(struct json *j, const char *key);
void json_list_end(struct json *j);
void json_item(struct json *j);
void json_item_end(struct json *j);

#endif /* TSW_JSON_H */
