/* Between fake_driver.c and fake_checkpoint.c. */
#ifndef FAKE_CHECKPOINT_H
#define FAKE_CHECKPOINT_H

/* A process that uses the driver: be ready for requests of others. Once. */
void checkpoint_begin(void);
/* Is this another process than the one that began? */
int checkpoint_forked(void);
void checkpoint_uuid(unsigned char uuid[16], int device); /* the device's number */
/* What fake_driver.c does for them; 0 or a code of the driver. */
int driver_lock(void);
int driver_take(
    void); /* the devices' content into the process' own memory; the devices are closed */
int driver_return(void); /* and back */
int driver_unlock(void);
int driver_shares(void); /* has the process memory that others may open? */

/* fake_faults.c: what goes wrong at a step ('s', 'l', 'c', 'r', 'u'), with the process that asks ("asker") or with the
 * one that is asked ("owner"). A code that the step returns instead, or 0. */
int fault_before(const char *who, char step);
void fault_after(const char *who, char step);

#endif
